# slice Account.balance: (lambda a: (setattr(a, "balance", 5), a.balance, a.log))(Account())
# slice Account.balance: setattr(Account(), "balance", -1)
# without Account.balance: rename close_date
LOWEST = 0


def check(amount):
    if amount < LOWEST:
        raise ValueError("too low: %d" % amount)
    return amount


def close_date():
    return None


class Account:
    """An account."""

    def __init__(self):
        self._balance = 0
        self.log = []

    @property
    def balance(self):
        return self._balance

    @balance.setter
    def balance(self, amount):
        self._balance = check(amount)
        self._note(amount)

    def rename(self, name):
        self.name = name

    def _note(self, amount):
        self.log.append(amount)
