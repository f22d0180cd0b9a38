# slice price: price("a"), price("b")
# slice price: price("zz")
# without price: colour
PRICES = {}
PRICES["a"] = 1
COLOURS = {}
COLOURS["a"] = "red"
PRICES.update(b=2)


def colour(name):
    return COLOURS[name]


def price(name):
    return PRICES[name]
