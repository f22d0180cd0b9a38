# slice show: show()
# without show: hide
limit = 1
label = "first"
limit = limit + 10
label = label.upper()


def hide():
    return label


def show():
    return limit
