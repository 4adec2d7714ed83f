"""Named tuples whose annotations stay texts: for the rest they are those of the standard library."""

import pickle
import subprocess
import sys
import typing

import pytest

from remit.light_namedtuple import NamedTuple


class Quick(NamedTuple):
    """A value."""

    first: "int"
    second: "tuple[str, ...]" = ()
    """With a word of its own."""

    @property
    def total(self) -> int:
        """Both together."""
        return self.first + len(self.second)


class Usual(typing.NamedTuple):
    """A value."""

    first: "int"
    second: "tuple[str, ...]" = ()


def test_it_is_the_tuple_that_it_stands_for() -> None:
    made = Quick(1, second=("a", "b"))
    assert tuple(made) == (1, ("a", "b")) == tuple(Usual(1, ("a", "b")))
    assert (made.first, made.second, made.total) == (1, ("a", "b"), 3)
    assert made._replace(first=5) == Quick(5, ("a", "b"))
    assert (Quick._fields, Quick._field_defaults) == (Usual._fields, Usual._field_defaults)
    assert (repr(made), Quick.__doc__, Quick.__bases__) == ("Quick(first=1, second=('a', 'b'))", "A value.", (tuple,))
    assert (Quick.__module__, Quick.__qualname__) == (__name__, "Quick")
    assert pickle.loads(pickle.dumps(made)) == made  # noqa: S301 - ours
    assert typing.get_type_hints(Quick) == typing.get_type_hints(Usual) == {"first": int, "second": tuple[str, ...]}
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'first'"):
        Quick()  # type: ignore[call-arg]


def test_a_default_belongs_to_its_own_field() -> None:
    """As in the standard library; `namedtuple` would give the default to the last field."""
    body = {"__annotations__": {"a": "int", "b": "int"}, "a": 1, "__module__": __name__}
    maker: typing.Any = type(NamedTuple)
    with pytest.raises(TypeError, match="without a default follows"):
        maker("Wrong", (NamedTuple,), body)


def test_no_annotation_is_compiled() -> None:
    assert Quick.__annotations__ == {"first": "int", "second": "tuple[str, ...]"}
    assert isinstance(Usual.__annotations__["first"], typing.ForwardRef)


def test_all_classes_of_the_vocabulary_are_such() -> None:
    code = "import typing; typing.ForwardRef = None; import remit.model, remit.returns.shapes"
    subprocess.run([sys.executable, "-c", code], check=True)
