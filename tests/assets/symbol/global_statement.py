# slice tick: tick(), tick(), tick()
# slice peek: peek()
# without tick: far
state = 10
other = 0


def tick():
    global state
    state += step()
    return state


def step():
    return 5


def far():
    return other


def start():
    global state
    state = 100


start()


def peek():
    return state
