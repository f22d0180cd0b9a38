# slice Stack.pop: Stack([1, 2]).pop(), Stack([7])
# slice Stack.pop: Stack().pop()
# slice Stack.top: Stack([1, 2]).top, repr(Stack([3])), len(Stack([1, 2]))
# without Stack.top: clear
class Empty(Exception):
    pass


class Stack:
    kind = "stack"

    def __init__(self, items=()):
        self.items = list(items)

    def __repr__(self):
        return "<%s %s>" % (self.kind, self._text())

    def __len__(self):
        return len(self.items)

    def _text(self):
        return ",".join(map(str, self.items))

    def push(self, item):
        self.items.append(item)

    def pop(self):
        if not self.items:
            raise Empty("nothing in the %s" % self.kind)
        return self.items.pop()

    @property
    def top(self):
        return self._peek(-1)

    def _peek(self, index):
        return self.items[index]

    def clear(self):
        self.items = []
