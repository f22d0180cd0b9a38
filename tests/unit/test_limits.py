"""The clients' limits stand in one module, with their units."""

import io
import os
import tokenize

from contextkernel.clients import limits

PACKAGE = os.path.dirname(os.path.dirname(limits.__file__))
# figures of other things: what the pure operators aim at, and what a model's window holds
OTHERS = ("clients/limits.py", "normalize/", "clients/claude/models.py", "slicing/")
LIMITS = {name: value for name, value in vars(limits).items() if name.isupper()}
TELLING = {str(value) for value in LIMITS.values()} - {
    str(limits.GREP_MAX_CHARS),
    str(limits.FAILURE_END_CHARS),
    str(limits.PREVIEW_CHARS),
    str(limits.OTHER_MAX_CHARS),
}  # round figures that other things have, too


def test_each_limit_names_its_unit():
    assert LIMITS
    assert not [name for name in LIMITS if not name.endswith(("_CHARS", "_BYTES", "_TOKENS"))]


def test_no_other_module_holds_a_limit():
    found = []
    for folder, _, names in os.walk(PACKAGE):
        for name in names:
            path = os.path.relpath(os.path.join(folder, name), PACKAGE).replace(os.sep, "/")
            if name.endswith(".py") and not path.startswith(OTHERS):
                with open(os.path.join(PACKAGE, path), "rb") as handle:
                    tokens = tokenize.tokenize(io.BytesIO(handle.read()).readline)
                    found += [
                        f"{path}:{token.start[0]} {token.string}"
                        for token in tokens
                        if token.type == tokenize.NUMBER
                        and token.string.replace("_", "") in TELLING
                    ]
    assert not found
