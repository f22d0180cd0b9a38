# slice small: small()
# slice Pair: Pair.a, Pair.b
# without small: big
def low(): return 1
one = low(); two = one + 1
class Pair: a = 1; b = one


def big():
    return 1000


def small():
    return two
