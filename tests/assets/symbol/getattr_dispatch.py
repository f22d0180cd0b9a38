# slice Shell.run: Shell().run("up"), Shell().run("down")
# slice Shell.run: Shell().run("left")
class Shell:
    def do_up(self):
        return "up"

    def do_down(self):
        return "down"

    def run(self, word):
        return getattr(self, "do_" + word)()
