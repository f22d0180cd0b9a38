# slice paint: paint(Colour.RED), paint("x")
# slice Pixel.moved: Pixel(1, 2).moved(3)
# without paint: Pixel
from enum import Enum
from typing import NamedTuple


class Colour(Enum):
    RED = 1
    BLUE = 2

    @property
    def short(self):
        return self.name[0]


STEP = 10


class Pixel(NamedTuple):
    x: int
    y: int = 0

    def moved(self, steps):
        return self._replace(x=self.x + steps * STEP)

    def mirrored(self):
        return self._replace(x=-self.x)


def paint(colour):
    return colour.short if isinstance(colour, Colour) else "none"
