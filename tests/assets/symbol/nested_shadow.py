# slice outer: outer(3)
# without outer: reader
value = "module"
scale = 4


def outer(number):
    value = number * scale

    def inner():
        return value + 1

    def own():
        scale = "own"
        return scale

    return inner(), own()


def reader():
    return value
