# slice visit: visit(), visit.calls
# without visit: other
def visit():
    visit.calls += 1
    return visit.calls


visit.calls = 0
visit()


def other():
    return visit() + 1
