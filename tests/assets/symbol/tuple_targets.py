# slice low: low()
# slice middle: middle()
# without low: other
bounds = (1, 5, 9)
(lowest, *between), extra = bounds, "x"
a = b = [lowest]
b.append(2)
other = 12


def low():
    return lowest, a


def middle():
    return between
