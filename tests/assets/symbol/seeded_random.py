# slice draw: draw()
# without draw: unrelated
import random

random.seed(4)
ignored = random.random()
unrelated = "x"


def draw():
    return random.randint(0, 1000000)
