# slice made: made(2)
TEMPLATE = "def helper_{0}(x):\n    return x + {0}\n"
for number in (1, 2):
    exec(TEMPLATE.format(number))


def made(x):
    return helper_1(x), helper_2(x)
