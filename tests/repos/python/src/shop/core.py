import json
import shop.store.base
from typing import TYPE_CHECKING

from shop import errors
from .store import Store, open_store as opened

"""
import shop.never
"""
# from shop import never


def run():
    from . import late
    return late, json, Store, opened, errors
