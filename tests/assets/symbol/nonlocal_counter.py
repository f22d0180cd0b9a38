# slice make: [next_one() for next_one in [make()] * 3]
# without make: SPARE
START = 5
SPARE = 6


def make():
    current = START

    def forward():
        nonlocal current
        current += 1
        return current

    return forward


def spare():
    return SPARE
