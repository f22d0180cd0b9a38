# slice encode: encode(1.5)
# without encode: other
import json
import json.encoder

json.encoder.FLOAT_MARK = "mark"
setattr(json.encoder, "SECOND_MARK", "second")
other = 1


def encode(value):
    return json.dumps(value), json.encoder.FLOAT_MARK, json.encoder.SECOND_MARK
