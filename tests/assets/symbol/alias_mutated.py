# slice look: look()
# without look: elsewhere
table = {"a": 1}
same = table
same["b"] = 2
holder = {"inner": table}
holder["inner"]["c"] = 3
other = {}
other["d"] = 4


def elsewhere():
    return other


def look():
    return table
