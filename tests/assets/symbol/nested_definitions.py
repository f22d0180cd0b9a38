# slice outer.inner: outer()
# slice Outer.Inner: Outer.Inner().value()
# without outer.inner: Outer
BASE = 3


def outer():
    def inner():
        return BASE
    return inner() + 1


class Outer:
    class Inner:
        def value(self):
            return BASE * Outer.factor

    factor = 2

    def spare(self):
        return None
