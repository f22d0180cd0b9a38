"""A record's class is what typing.NamedTuple would have made of it."""

from __future__ import annotations

import pickle
import subprocess
import sys
import typing

import pytest

import plugin
from contextkernel import records, shell
from contextkernel.normalize import Source
from contextkernel.normalize.layout import Layout
from contextkernel.receipt import Receipt


def made_by(base):
    class Point(base):
        """A place."""

        x: int
        y: int | None = None
        name: str = "origin"

        @property
        def far(self) -> bool:
            return self.x > 9

        @classmethod
        def at(cls, x):
            return cls(x, y=x)

        def __str__(self):
            return f"{self.name}:{self.x}"

    return Point


def facts(point):
    """What can be seen of a class and of what it makes."""
    one = point(12, name="a")
    return {
        "fields": point._fields,
        "defaults": point._field_defaults,
        "annotated": list(point.__annotations__),
        "names": (point.__name__, point.__doc__, point.__module__),
        "bases": point.__mro__[1:],
        "one": (tuple(one), repr(one), str(one), one.far, hash(one), one == (12, None, "a")),
        "made": (tuple(point.at(3)), one._replace(y=4)._asdict(), point._make([1, 2, "b"]).name),
    }


def test_it_is_the_class_that_typing_makes():
    assert facts(made_by(records.NamedTuple)) == facts(made_by(typing.NamedTuple))


@pytest.mark.parametrize("base", [records.NamedTuple, typing.NamedTuple])
def test_a_default_before_a_field_without_one_is_refused(base):
    with pytest.raises(TypeError):

        class Wrong(base):
            x: int = 1
            y: int


@pytest.mark.parametrize("base", [records.NamedTuple, typing.NamedTuple])
@pytest.mark.parametrize("call", [{}, {"x": 1, "z": 2}])
def test_a_wrong_call_is_refused(base, call):
    with pytest.raises(TypeError):
        made_by(base)(**call)


@pytest.mark.parametrize("kind", [Receipt, Source, Layout, shell.Word])
def test_classes_of_the_product_have_fields_and_travel(kind):
    assert kind._fields == tuple(kind.__annotations__)
    one = kind._make(range(len(kind._fields)))
    assert pickle.loads(pickle.dumps(one)) == one


def test_a_rewritten_result_imports_no_typing():
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from contextkernel.handlers import operators, rewrite, tool_result\n"
        "from contextkernel.normalize import Source\n"
        "source = Source('Bash', 'make', 0, 'a' * 12, 9000)\n"
        "form = operators.normal_forms(['line\\n' * 9000], [source])\n"
        "assert form[0][1]\n"
        "sys.exit('typing' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code, plugin.ROOT + "/hooks"],
        stderr=subprocess.PIPE,
    )
    assert done.returncode == 0, done.stderr
