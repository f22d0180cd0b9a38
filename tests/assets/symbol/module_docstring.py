"""What this module is for."""
# slice usage: usage()
# without usage: other
LIMIT = 5


def other():
    return LIMIT


def usage():
    return __doc__
