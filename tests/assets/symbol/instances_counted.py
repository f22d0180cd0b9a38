# slice Colour: [colour.name for colour in Colour.every]
# slice count: count()
# without Colour: PLAIN
class Colour:
    every = []

    def __init__(self, name):
        self.name = name
        Colour.every.append(self)


class Plain:
    def __init__(self, name):
        self.name = name


RED = Colour("red")
PLAIN = Plain("x")
GREEN = Colour("green")


def count():
    return len(Colour.every)
