import os, sys
from shop.errors import (
    Broken,  # a comment, with a comma
)
