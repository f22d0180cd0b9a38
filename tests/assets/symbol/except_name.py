# slice reason: reason()
# without reason: calm
problem = "none"
try:
    int("x")
except ValueError as error:
    problem = str(error)

quiet = True


def calm():
    return quiet


def reason():
    return problem
