# slice call: call("first"), call("second")
# slice call: call("third")
def do_first():
    return 1


def do_second():
    return 2


def call(name):
    return globals()["do_" + name]()
