# slice ratio: ratio(), scale(3)
# without ratio: other
values = [1, 2, 3]
if (count := len(values)) > 2:
    values.append(count)
scale = lambda number, factor=count: number * factor + shift
shift = 2
other = 1


def ratio():
    return scale(count) / len(values)
