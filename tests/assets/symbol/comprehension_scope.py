# slice pairs: pairs()
# without pairs: letter
letter = "module"
rows = ["ab", "c"]
grid = [[letter for letter in row] for row in rows]
lengths = {row: len(row) for row in rows}


def pairs():
    return grid, {key: lengths[key] for key in sorted(lengths)}


def single():
    return letter
