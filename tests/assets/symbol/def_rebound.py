# slice area: area(3)
# without area: unused
import functools


def trace(function):
    @functools.wraps(function)
    def wrapper(*values):
        return ("traced", function(*values))
    return wrapper


def unused():
    return trace


def area(side):
    return side * side


area = trace(area)


def area2(side):
    return area(side)
