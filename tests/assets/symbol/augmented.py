# slice total: total(), total(2)
# without total: names
count = 1
parts = ["a"]
count += 4
parts += ["b"]
count *= 3


def names():
    return parts


def total(times=1):
    return count * times
