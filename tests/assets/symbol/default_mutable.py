# slice remember: remember(3)
# without remember: size
def remember(item, seen=[]):
    seen.append(item)
    return list(seen)


size = 3
remember(1)
before = remember(2)
