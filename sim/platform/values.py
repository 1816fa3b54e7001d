"""Dataclasses whose methods are not compiled before they are called.

The library's own writes the text of up to six methods of each class and compiles it when the class is made. Of the
hundreds that a window loads that took a third of the time for all its imports, and most are never made an object of.
Here methods that can be are shared, and a class's `__init__` is written when the first object is made.
"""

import dataclasses
from collections.abc import Callable
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(
        cls: Any = None,
        /,
        *,
        frozen: bool = False,
        slots: bool = False,
        eq: bool = True,
        kw_only: bool = False,
    ) -> Any:
        """As the decorator of the standard library, whose functions take what it makes."""
        if cls is None:
            return lambda cls: _made(cls, frozen=frozen, slots=slots, eq=eq, kw_only=kw_only)
        return _made(cls, frozen=frozen, slots=slots, eq=eq, kw_only=kw_only)


def _made(cls: type, *, frozen: bool, slots: bool, eq: bool, kw_only: bool) -> Any:
    cls.__doc__ = cls.__doc__ or cls.__name__  # else the library writes down a signature
    own = set(cls.__dict__)
    # The library asks of whoever inherits from what is frozen to say so, and then writes two of the methods.
    kinds = [vars(base).get("__dataclass_params__") for base in cls.__mro__[1:]]
    inherits = any(kind is not None and kind.frozen for kind in kinds)
    made: Any = dataclasses.dataclass(
        init=False, repr=False, eq=False, frozen=frozen and inherits, slots=slots, kw_only=kw_only
    )(cls)
    made.__dataclass_params__.frozen = frozen
    fields = dataclasses.fields(made)
    methods: dict[str, Any] = {"__init__": _first_init(made, frozen)}
    methods["__repr__"] = _repr([field.name for field in fields if field.repr])
    if eq:
        told = _told([field.name for field in fields if field.compare])
        methods["__eq__"] = _eq(told)
        if frozen:
            methods["__hash__"] = lambda self: hash(told(self))
        else:
            methods["__hash__"] = None
        if "__eq__" in own and made.__dict__["__hash__"] is None:
            own.discard("__hash__")  # Python's, of a class with an `__eq__` of its own
    if frozen:
        methods |= _fixed(made, frozenset(field.name for field in fields))
        if slots and "__getstate__" not in own:
            methods |= {"__getstate__": _state, "__setstate__": _set_state}
    for name, method in methods.items():
        if name not in own:
            if method is not None:
                method.__qualname__ = f"{made.__qualname__}.{name}"
            setattr(made, name, method)
    return made


def _first_init(cls: Any, frozen: bool) -> Callable[..., None]:
    def __init__(self: object, *values: object, **named: object) -> None:
        init = _init(cls, frozen)
        cls.__init__ = init
        init(self, *values, **named)

    return __init__


def _init(cls: type, frozen: bool) -> Callable[..., None]:
    """Written for its fields."""
    known: dict[str, Any] = {"_put": object.__setattr__, "_missing": dataclasses.MISSING}
    taken = ["self"]
    named: list[str] = []
    lines: list[str] = []
    for field in dataclasses.fields(cls):
        name, value = field.name, field.name
        asked = name
        if field.default is not dataclasses.MISSING:
            known[f"_default_{name}"] = field.default
            asked, value = f"{name}=_default_{name}", name if field.init else f"_default_{name}"
        elif field.default_factory is not dataclasses.MISSING:
            known[f"_make_{name}"] = field.default_factory
            asked = f"{name}=_missing"
            value = f"_make_{name}()"
            if field.init:
                value += f" if {name} is _missing else {name}"
        elif not field.init:
            continue
        if field.init:
            (named if field.kw_only else taken).append(asked)
        lines.append(f"_put(self, {name!r}, {value})" if frozen else f"self.{name} = {value}")
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    head = ", ".join([*taken, *(["*", *named] if named else [])])
    exec(f"def __init__({head}):\n " + "\n ".join(lines or ["pass"]), known)
    init: Callable[..., None] = known["__init__"]
    init.__qualname__, init.__module__ = f"{cls.__qualname__}.__init__", cls.__module__
    return init


def _told(names: list[str]) -> Callable[[object], tuple[object, ...]]:
    """Values of an object, which it is compared by."""
    if len(names) > 1:
        return attrgetter(*names)
    return lambda self: tuple([getattr(self, name) for name in names])


def _eq(told: Callable[[object], object]) -> Callable[[object, object], bool]:
    def __eq__(self: object, other: object) -> bool:
        if other.__class__ is not self.__class__:
            return NotImplemented
        return told(self) == told(other)

    return __eq__


def _repr(names: list[str]) -> Callable[[object], str]:
    @recursive_repr()
    def __repr__(self: object) -> str:
        values = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
        return f"{self.__class__.__qualname__}({values})"

    return __repr__


def _fixed(cls: Any, names: frozenset[str]) -> dict[str, Callable[..., None]]:
    """What refuses changes of these fields, and of any other of the class itself."""

    def __setattr__(self: Any, name: str, value: object) -> None:
        if type(self) is cls or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
        super(cls, self).__setattr__(name, value)

    def __delattr__(self: Any, name: str) -> None:
        if type(self) is cls or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
        super(cls, self).__delattr__(name)

    return {"__setattr__": __setattr__, "__delattr__": __delattr__}


def _state(self: Any) -> list[object]:
    return [getattr(self, field.name) for field in dataclasses.fields(self)]


def _set_state(self: Any, state: list[object]) -> None:
    for field, value in zip(dataclasses.fields(self), state, strict=True):
        object.__setattr__(self, field.name, value)
