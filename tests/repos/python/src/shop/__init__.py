from .core import run
from .tools import *
