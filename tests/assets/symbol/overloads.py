# slice double: double(2), double("a")
# slice Maker.make: Maker().make(1), Maker().make("x")
# without double: Maker
from typing import overload


@overload
def double(value: int) -> int: ...
@overload
def double(value: str) -> str: ...
def double(value):
    return value * FACTOR


FACTOR = 2


class Maker:
    @overload
    def make(self, value: int) -> int: ...

    @overload
    def make(self, value: str) -> str: ...

    def make(self, value):
        return [value] * FACTOR

    def spare(self):
        return None
