# slice marks: marks()
# without marks: plain
class Probe:
    def __getitem__(self, key):
        found.append(key)
        return key

    def __add__(self, other):
        found.append("added")
        return self

    @property
    def name(self):
        found.append("named")
        return "probe"


found = []
probe = Probe()
first = probe[3]
second = probe + probe
third = probe.name
plain = [1][0] + 2


def marks():
    return found
