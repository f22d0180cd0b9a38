# slice is_even: is_even(10), is_even(7)
# without is_even: helper
def is_even(number):
    return number == ZERO or is_odd(number - 1)


def is_odd(number):
    return number != ZERO and is_even(number - 1)


ZERO = 0


def helper():
    return is_even(2)
