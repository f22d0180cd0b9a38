# slice Plugin: sorted(Plugin.known)
# slice load: load("b").run()
# without load: Lonely
class Plugin:
    known = {}

    def __init_subclass__(cls, key="", **rest):
        super().__init_subclass__(**rest)
        Plugin.known[key] = cls


class A(Plugin, key="a"):
    def run(self):
        return "A"


class B(Plugin, key="b"):
    def run(self):
        return "B" + tail()


class Lonely:
    pass


def tail():
    return "!"


def load(key):
    return Plugin.known[key]()
