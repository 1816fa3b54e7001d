"""Values have the methods that the standard library's dataclasses have, told by the same words."""

import copy
import dataclasses
import pickle
from collections.abc import Callable
from dataclasses import field
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pytest

from sim.platform.values import dataclass

KINDS = [
    {},
    {"frozen": True},
    {"slots": True},
    {"frozen": True, "slots": True},
    {"frozen": True, "eq": False},
    {"frozen": True, "slots": True, "kw_only": True},
]


def family(decorator: Callable[..., Any], **kind: bool) -> SimpleNamespace:
    """Classes with every sort of field, one that inherits, one that has methods of its own, one without fields."""
    made = decorator(**kind)

    @made
    class Place:
        """Somewhere."""

        x: float
        y: float = 2.0
        names: list = field(default_factory=list)
        hidden: int = field(default=3, repr=False, compare=False)
        count: int = field(default=7, init=False)
        known: ClassVar[int] = 5

    @made
    class Named(Place):
        """Of a place."""

        label: str = "here"

        def __post_init__(self) -> None:
            object.__setattr__(self, "count", self.known + 1)

    @made
    class Own:
        """Says itself what it is."""

        x: float

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Own)

        def __repr__(self) -> str:
            return "own"

    @made
    class Nothing:
        """Without fields."""

    @made
    class Single:
        """Of one field."""

        of: object

    return SimpleNamespace(Place=Place, Named=Named, Own=Own, Nothing=Nothing, Single=Single)


def told(act: Callable[[], object]) -> str:
    """What comes of it, or with which words it fails."""
    try:
        return repr(act())
    except (TypeError, AttributeError) as error:
        return f"{type(error).__name__}: {error}"


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_values_do_what_the_librarys_dataclasses_do(kind: dict[str, bool]) -> None:
    ours, theirs = family(dataclass, **kind), family(dataclasses.dataclass, **kind)
    acts: list[Callable[[Any], object]] = [
        lambda f: f.Place(x=1.0),
        lambda f: f.Place(1.0, 3.0),
        lambda f: f.Place(),
        lambda f: f.Place(x=1.0, y=2.0, names=["a"], hidden=4).hidden,
        lambda f: f.Place(x=1.0, count=3),
        lambda f: f.Place(x=1.0).names is f.Place(x=1.0).names,
        lambda f: f.Named(x=1.0, label="there"),
        lambda f: f.Named(x=1.0).count,
        lambda f: f.Place(x=1.0) == f.Place(x=1.0, hidden=9),
        lambda f: f.Place(x=1.0) == f.Place(x=1.5),
        lambda f: f.Place(x=1.0) == f.Named(x=1.0),
        lambda f: f.Nothing() == f.Nothing(),
        lambda f: f.Own(x=1.0) == f.Own(x=2.0),
        lambda f: f.Own(x=1.0),
        lambda f: hash(f.Own(x=1.0)) == hash(f.Own(x=1.0)),
        lambda f: hash(f.Single(of=(1, 2))) == hash(f.Single(of=(1, 2))),
        lambda f: hash(f.Place(x=1.0)) == 0,
        lambda f: hash(f.Nothing()) == hash(f.Nothing()),
        lambda f: setattr(f.Place(x=1.0), "x", 2.0),
        lambda f: setattr(f.Named(x=1.0), "x", 2.0),
        lambda f: delattr(f.Place(x=1.0), "x"),
        lambda f: dataclasses.replace(f.Named(x=1.0), x=4.0, label="off"),
        lambda f: dataclasses.asdict(f.Named(x=1.0)),
        lambda f: [one.name for one in dataclasses.fields(f.Named)],
        lambda f: f.Named.__match_args__,
        lambda f: copy.deepcopy(f.Named(x=1.0, names=["a"])),
        lambda f: hasattr(f.Place(x=1.0), "__dict__"),
        lambda f: f.Named.__doc__,
    ]
    for number, act in enumerate(acts):
        assert told(lambda a=act: a(ours)) == told(lambda a=act: a(theirs)), f"{kind}, act {number}"  # type: ignore[misc]


def test_what_is_in_arrays_is_the_same_object_and_so_alike() -> None:
    single = family(dataclass, frozen=True).Single
    array = np.arange(3.0)
    assert single(array) == single(array)


@dataclass(frozen=True, slots=True)
class _Kept:
    """To be written and read."""

    x: float
    names: tuple[str, ...] = ()


def test_values_that_are_written_and_read_are_the_same() -> None:
    kept = _Kept(1.5, ("a", "b"))
    assert pickle.loads(pickle.dumps(kept)) == kept
    assert copy.copy(kept) == kept


def test_the_librarys_dataclasses_inherit_from_values_as_from_each_other() -> None:
    @dataclasses.dataclass(frozen=True)
    class Theirs(_Kept):
        more: int = 3

    assert (Theirs(1.0, more=4).x, Theirs(1.0).more) == (1.0, 3)
    with pytest.raises(TypeError, match="frozen"):

        @dataclass
        class _Changes(_Kept):
            more: int = 3
