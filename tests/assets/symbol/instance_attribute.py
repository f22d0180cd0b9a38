# slice Job.state: Job("a").state, Job("a").start().state
# without Job.state: unrelated
class Job:
    def __init__(self, name):
        self.name = name
        self.state = NEW

    def start(self):
        self.state = RUNNING
        return self

    def unrelated(self):
        return self.name


NEW, RUNNING = "new", "running"
