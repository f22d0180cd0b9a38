# slice anything: anything()
import sys

ALLOWED = False
UNUSED = 1

if not ALLOWED:
    raise ImportError("this module is switched off")


def anything():
    return 1
