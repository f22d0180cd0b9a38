# slice shout: shout("ab")
# without shout: quiet
from string import *

SUFFIX = "!"


def quiet(text):
    return text.lower()


def shout(text):
    return "".join(letter for letter in text if letter in ascii_letters).upper() + SUFFIX + digits[:2]
