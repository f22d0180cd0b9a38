# slice Box: Box().get(), Box.size, Box.double
# without Box: spare
size = 3
extra = 10
spare = 99


class Box:
    size = size
    double = size * 2

    def get(self):
        return size + extra


def use():
    return spare
