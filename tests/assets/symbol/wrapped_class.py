# slice Service: Service().ask(), Service.tag
# slice Service.ask: Service().ask()
# without Service: unused
def tagged(name):
    def decorate(cls):
        cls.tag = name
        cls.ask = shorter(cls.ask)
        return cls
    return decorate


def shorter(method):
    return lambda self: method(self)[:4]


def unused():
    return tagged


@tagged("main")
class Service:
    def ask(self):
        return "answer " + self.more()

    def more(self):
        return "more"
