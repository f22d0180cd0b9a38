# slice run: run("hello"), run("bye")
# slice run: run("missing")
# without run: unrelated
COMMANDS = {}


def command(function):
    COMMANDS[function.__name__] = function
    return function


@command
def hello():
    return "hello " + NAME


def bye():
    return "bye"


command(bye)
NAME = "you"


def unrelated():
    return "nothing"


def run(name):
    return COMMANDS[name]()
