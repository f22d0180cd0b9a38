# slice kinds: kinds()
# without kinds: Stone
class Animal:
    pass


class Dog(Animal):
    pass


class Stone:
    pass


class Cat(Animal):
    pass


def kinds():
    return sorted(kind.__name__ for kind in Animal.__subclasses__())
