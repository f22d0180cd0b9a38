from .base import Store
from shop.store.opening import open_store
