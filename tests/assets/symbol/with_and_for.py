# slice table: table()
# slice last: last()
# without table: marker
import io

with io.StringIO("one two three") as stream:
    words = stream.read().split()

squares = []
for number in range(5):
    squares.append(number * number)

marker = "end"


def table():
    return dict(zip(words, squares))


def last():
    return number, marker
