# slice Shape: Shape().sides, Shape.kinds
# without Shape: Other
class Shape:
    sides = 0
    kinds = []


class Other:
    sides = 9


Shape.sides = 4
Shape.kinds.append("square")
Other.sides = 1
