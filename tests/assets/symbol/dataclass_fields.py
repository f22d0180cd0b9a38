# slice Point: Point(1), Point(1, 2).shifted(), Point(3) == Point(3)
# slice Point.shifted: Point(1).shifted()
# without Point.shifted: spare
from dataclasses import dataclass, field

DEFAULT = 7


def tags():
    return ["new"]


def spare():
    return None


@dataclass
class Point:
    x: int
    y: int = DEFAULT
    tags: list = field(default_factory=tags)

    def shifted(self):
        return Point(self.x + 1, self.y)

    def spare(self):
        return spare()
