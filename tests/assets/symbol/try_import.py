# slice dumps: dumps({"a": 1})
# without dumps: unused
try:
    import no_such_speedup as codec
except ImportError:
    import json as codec

unused = codec


def dumps(value):
    return codec.dumps(value, sort_keys=True)
