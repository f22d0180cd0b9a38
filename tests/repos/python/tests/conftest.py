from shop import run
