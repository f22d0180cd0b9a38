# slice names: names()
# without names: spare
REGISTRY = []


class Meta(type):
    def __new__(mcs, name, bases, body):
        made = super().__new__(mcs, name, bases, body)
        REGISTRY.append(name)
        return made


class Base(metaclass=Meta):
    pass


class First(Base):
    rank = 1


def spare():
    return 0


class Second(First):
    rank = 2


def names():
    return list(REGISTRY)
