# slice show: show(1), show("a"), show([1, "b"]), show(2.5)
# without show: unrelated
from functools import singledispatch


@singledispatch
def show(value):
    return "?"


@show.register(int)
def _(value):
    return "int %d" % value


@show.register(list)
def _(value):
    return " ".join(show(part) for part in value)


def text(value):
    return "text " + value


show.register(str, text)


def unrelated():
    return show(0)
