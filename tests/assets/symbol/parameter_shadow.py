# slice apply: apply([1, 2])
# without apply: step
step = 100
base = 7


def apply(numbers):
    add = lambda step: step + base
    return [add(step) for step in numbers]


def jump():
    return step
