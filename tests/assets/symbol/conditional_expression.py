# slice mode: mode()
# without mode: other
import os

DEBUG = os.environ.get("NO_SUCH_SETTING", "") == "1"
LEVEL = "debug" if DEBUG else "plain"
other = LEVEL * 2

if DEBUG:
    LEVEL = "loud"
elif LEVEL == "plain":
    LEVEL = "calm"


def mode():
    return LEVEL
