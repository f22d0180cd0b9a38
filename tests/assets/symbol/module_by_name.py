# slice fetch: fetch("ALPHA")
# slice fetch: fetch("GAMMA")
import sys

ALPHA = 1
BETA = 2


def fetch(name):
    return getattr(sys.modules[__name__], name)
