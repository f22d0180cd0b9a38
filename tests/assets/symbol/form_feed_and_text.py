# slice poem: poem()
# without poem: other
LINES = """first
    second # not a comment
def third(): pass
"""


def other():
    return "x"


def poem():
    return LINES.count("\n"), MARK


MARK = """
""" + "end"
