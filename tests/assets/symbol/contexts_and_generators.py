# slice use: use()
# without use: other
from contextlib import contextmanager

events = []


@contextmanager
def opened(name):
    events.append("open " + name)
    yield name.upper()
    events.append("close " + name)


def other():
    with opened("x"):
        return 0


def use():
    with opened(TARGET) as target:
        found = list(letters(target))
    return found, events


def letters(word):
    for letter in word:
        yield letter * REPEAT


TARGET = "ab"
REPEAT = 2
