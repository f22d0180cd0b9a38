# slice made: made()
# without made: other
class Counting(type):
    def __call__(cls, *values):
        cls.made = getattr(cls, "made", 0) + 1
        return super().__call__(*values)


class Thing(metaclass=Counting):
    pass


class Free:
    pass


one = Thing()
two = Thing()
other = Free()


def made():
    return Thing.made
