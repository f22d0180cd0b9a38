# slice width: width("abc")
# without width: other
import sys

if sys.maxsize > 2**40:
    def measure(text):
        return len(text) * 2
else:
    def measure(text):
        return len(text)


def other():
    return measure("x") - 1


def width(text):
    return measure(text) + 1
