# slice read: read()
temporary = [1, 2]
kept = sum(temporary)
del temporary


def read():
    return kept, temporary
