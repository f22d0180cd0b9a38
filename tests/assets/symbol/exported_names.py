# slice __all__: __all__
# slice public: public()
# without public: hidden
__all__ = ["public"]


def export(function):
    __all__.append(function.__name__)
    return function


def public():
    return 1


@export
def second():
    return 2


__all__ += ["third"]


def hidden():
    return __all__
