# slice Api: Api().get(), Api().put()
# slice call: call("put")
# without Api: other
class Api:
    def send(self, word):
        return "sent " + word


def make(word):
    def method(self):
        return self.send(word)
    return method


for word in ("get", "put"):
    setattr(Api, word, make(word))


def other():
    return 1


def call(name):
    return getattr(Api(), name)()
