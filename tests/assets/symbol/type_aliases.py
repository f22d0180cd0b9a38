# slice first: first([2, 1])
# without first: other
from typing import Dict, List, TypeVar

Item = TypeVar("Item")
Items = List[Item]
Table = Dict[str, Items]


def other(table: Table) -> Items:
    return table["x"]


def first(items: Items) -> Item:
    return sorted(items)[0]
