# slice fresh: fresh()
# without fresh: unrelated
import itertools

numbers = itertools.count(10)
first = next(numbers)
second = next(numbers)
unrelated = first + second


def fresh():
    return next(numbers)
