# slice Square.describe: Square(3).describe()
# without Square.describe: scale_all
class Named:
    name = "shape"

    def title(self):
        return self.name.title() + self.mark()

    def mark(self):
        return "."


class Square(Named):
    name = "square"

    def __init__(self, side):
        self.side = side

    def describe(self):
        return "%s %d" % (self.title(), self._area())

    def mark(self):
        return "!"

    def _area(self):
        return self.side ** 2

    def scale_all(self, factor):
        return Square(self.side * factor)
