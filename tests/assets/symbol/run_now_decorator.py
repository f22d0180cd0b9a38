# slice report: report()
# without report: quiet
entries = []


def run_now(function):
    function()
    return function


def wrap(function):
    def wrapper():
        return function()
    return wrapper


@run_now
def fill():
    entries.append("filled")


@wrap
def quiet():
    return "never run " + str(entries)


def report():
    return entries
