# slice gathered: gathered()
# without gathered: other
from functools import partial

items = []
add = items.append
add(1)
later = partial(items.append, 2)
later()
for hook in [items.append]:
    hook(3)
other = 4


def gathered():
    return items
