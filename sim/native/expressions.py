"""Expressions of Python as instructions: names, arithmetic, arrays, calls."""

import ast
import builtins
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import field
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from sim.native.types import BOOL, INT, STORED, Array, Known, Number, Tuple, Type, common, held
from sim.native.values import NONE, Instructions, NotTranslated, Value, known, number
from sim.platform.values import dataclass

OPERATORS: dict[type, str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
    ast.LShift: "<<",
    ast.RShift: ">>",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Is: "==",
    ast.IsNot: "!=",
}

Handler = Callable[["Expressions", list[Value]], Value]
HANDLERS: dict[Any, Handler] = {}
"""What functions that are known by name are made of (operations.py)."""


@dataclass(frozen=True, slots=True)
class Loop:
    """One that is being written."""

    assigned: set[str] = field(default_factory=set)
    """Variables that have been given a value in it."""
    carried: set[str] = field(default_factory=set)
    """Those that were read before: their value comes from the time before."""


class Expressions(Instructions, ABC):
    """Of one function, whose variables stand on the stack until LLVM takes them into registers."""

    def __init__(self, function: FunctionType, flags: str) -> None:
        super().__init__(flags)
        self._function = function
        self._variables: dict[str, tuple[Type, tuple[str, ...]]] = {}
        self._holds: dict[str, Type] = {}
        """What variables were found to hold, now or when the function was last gone through."""
        self._counting: set[str] = set()
        """Variables that are set by loops alone, and never negative."""
        self._latest: dict[str, Value] = {}
        """What variables hold that were read or set in the block that is written: they need not be loaded again."""
        self.loops: list[Loop] = []
        """That are open."""
        self.changed = False
        """Whether more was found of a variable than what stands in earlier instructions."""
        self.makes = False
        """Whether it makes arrays that do not stand on the stack: they are in the list at `%rooms`."""
        self.hands_on = False
        """Whether it returns arrays: that list is its caller's then."""
        cells = (cell.cell_contents for cell in function.__closure__ or ())
        own = dict(zip(function.__code__.co_freevars, cells, strict=True))
        self._outside = {**vars(builtins), **function.__globals__, **own}

    @abstractmethod
    def called(self, function: Any, given: list[Value], named: dict[str, Value]) -> Value:
        """What a function of the project returns."""

    @abstractmethod
    def fill(self, place: Value, value: Value) -> None:
        """The entries of a view, by a number or by as many others."""

    @abstractmethod
    def constant_array(self, array: np.ndarray) -> Value:
        """One that is known where functions are translated."""

    def expression(self, node: ast.expr) -> Value:
        """Value of an expression."""
        method = getattr(self, f"_{type(node).__name__.lower()}", None)
        if method is None:
            raise NotTranslated(f"`{ast.unparse(node)}` has no machine code")
        found: Value = method(node)
        return found

    # variables

    def _room_of(self, name: str, kind: Type, *, anew: bool) -> tuple[Type, tuple[str, ...]]:
        """Where a variable stands that is to hold such a value, and what it holds in all."""
        kind = held(kind)
        before = self._variables.get(name)
        both = None if anew else common(self._holds.get(name, kind), kind)
        if both is None:
            both = kind  # another thing of the same name, from here on
        elif self._holds.get(name) != both:
            self.changed = self.changed or before is not None
            self._holds[name] = both
        if before is None or before[0] != both:
            carried = any(name in loop.carried for loop in self.loops)
            if before is not None and carried and not self.changed:
                raise NotTranslated(f"{name!r} is now this, now that within a loop")
            self._variables[name] = both, tuple(self.room(part) for part in both.parts)
        return self._variables[name]

    def assign(self, name: str, value: Value, *, anew: bool = False) -> None:
        """To a variable. anew: one that has nothing to do with an earlier one of the same name."""
        kind, rooms = self._room_of(name, value.type, anew=anew)
        for loop in self.loops:
            loop.assigned.add(name)
        parts = self.cast(value, kind).parts
        for room, part, llvm in zip(rooms, parts, kind.parts, strict=True):
            self.put(f"store {llvm} {part}, ptr {room}")
        self._latest[name] = Value(kind, parts, counts=name in self._counting)

    def label(self, block: str) -> None:
        super().label(block)
        self._latest.clear()

    def _name(self, node: ast.Name) -> Value:
        if node.id in self._variables:
            kind, rooms = self._variables[node.id]
            for loop in self.loops:
                if node.id not in loop.assigned:
                    loop.carried.add(node.id)
            if node.id not in self._latest:
                loads = zip(rooms, kind.parts, strict=True)
                parts = tuple(self.new(f"load {llvm}, ptr {room}") for room, llvm in loads)
                self._latest[node.id] = Value(kind, parts, counts=node.id in self._counting)
            return self._latest[node.id]
        if node.id in self._outside:
            return self._global(self._outside[node.id])
        raise NotTranslated(f"{node.id!r} is not known here")

    def _global(self, x: Any) -> Value:
        if isinstance(x, tuple):
            return self.together([self._global(item) for item in x], getattr(x, "_fields", ()))
        return self.constant_array(x) if isinstance(x, np.ndarray) and x.ndim else known(x)

    def _constant(self, node: ast.Constant) -> Value:
        return NONE if node.value is None else known(node.value)

    # numbers

    def _binop(self, node: ast.BinOp) -> Value:
        return self.arithmetic(
            OPERATORS[type(node.op)], self.expression(node.left), self.expression(node.right)
        )

    def _unaryop(self, node: ast.UnaryOp) -> Value:
        x = self.expression(node.operand)
        if isinstance(node.op, ast.Not):
            return self.negation(x)
        if isinstance(node.op, ast.USub):
            return self.negative(x)
        raise NotTranslated(f"`{ast.unparse(node)}` has no machine code")

    def _compare(self, node: ast.Compare) -> Value:
        left, out = self.expression(node.left), number(True)
        for op, right_node in zip(node.ops, node.comparators, strict=True):
            right = self.expression(right_node)
            if isinstance(op, ast.In | ast.NotIn):
                one = number(False)
                for item in self.items(right):
                    one = self.both(one, self.compare("==", left, item), "or")
                one = self.negation(one) if isinstance(op, ast.NotIn) else one
            elif isinstance(op, ast.Is | ast.IsNot):
                same = left.type == NONE.type and right.type == NONE.type
                one = number(same == isinstance(op, ast.Is))
            else:
                one = self.compare(OPERATORS[type(op)], left, right)
            out, left = self.both(out, one), right
        return out

    def _boolop(self, node: ast.BoolOp) -> Value:
        word = "and" if isinstance(node.op, ast.And) else "or"
        first = self.truth(self.expression(node.values[0]))
        for later in node.values[1:]:
            if first.known is not None:
                if bool(first.known) == (word == "or"):
                    return first
                first = self.truth(self.expression(later))
                continue
            room, more, end = self.room("i1"), self.fresh(), self.fresh()
            self.put(f"store i1 {first.parts[0]}, ptr {room}")
            self.branch(first.parts[0], *((more, end) if word == "and" else (end, more)))
            self.label(more)
            self.put(f"store i1 {self.truth(self.expression(later)).parts[0]}, ptr {room}")
            self.jump(end)
            self.label(end)
            first = Value(BOOL, (self.new(f"load i1, ptr {room}"),))
        return first

    def _ifexp(self, node: ast.IfExp) -> Value:
        condition = self.truth(self.expression(node.test))
        if condition.known is not None:
            return self.expression(node.body if condition.known else node.orelse)
        yes, no, end = self.fresh(), self.fresh(), self.fresh()
        self.branch(condition.parts[0], yes, no)
        values, blocks = [], []
        for name, branch in ((yes, node.body), (no, node.orelse)):
            self.label(name)
            values.append(self.expression(branch))
            # Casts need both types: they stand in blocks of their own.
            blocks.append(self.fresh())
            self.jump(blocks[-1])
        kind = common(values[0].type, values[1].type)
        if kind is None:
            raise NotTranslated(f"`{ast.unparse(node)}` is now this, now that")
        rooms = [self.room(part) for part in kind.parts]
        for name, value in zip(blocks, values, strict=True):
            self.label(name)
            for room, part, llvm in zip(rooms, self.cast(value, kind).parts, kind.parts, strict=True):
                self.put(f"store {llvm} {part}, ptr {room}")
            self.jump(end)
        self.label(end)
        parts = tuple(
            self.new(f"load {llvm}, ptr {room}") for room, llvm in zip(rooms, kind.parts, strict=True)
        )
        return Value(kind, parts, counts=all(v.counts for v in values))

    # tuples and arrays

    def _tuple(self, node: ast.Tuple) -> Value:
        return self.together([self.expression(item) for item in node.elts])

    def indices(self, node: ast.expr) -> list[Any]:
        """Of a subscript, as `view` takes it."""
        nodes = node.elts if isinstance(node, ast.Tuple) else [node]
        out: list[Any] = []
        for one in nodes:
            if isinstance(one, ast.Slice):
                if one.step is not None:
                    raise NotTranslated(f"`{ast.unparse(node)}` has no machine code")
                out.append(tuple(None if x is None else self.expression(x) for x in (one.lower, one.upper)))
            else:
                out.append(self.expression(one))
        return out

    def _subscript(self, node: ast.Subscript) -> Value:
        value = self.expression(node.value)
        if isinstance(value.type, Array):
            at = self.indices(node.slice)
            if len(at) == 1 and isinstance(at[0], Value) and isinstance(at[0].type, Tuple):
                at = list(self.items(at[0]))
            view = self.view(value, at)
            return self.loaded(view) if view.type.ndim == 0 else view  # type: ignore[union-attr]
        items = self.items(value)
        (at,) = self.indices(node.slice)
        if isinstance(at, tuple):
            begin, end = (None if x is None else x.known for x in at)
            return self.together(items[begin:end])
        if at.known is not None:
            return items[at.known]
        kind = items[0].type
        for item in items:
            kind = common(kind, item.type) or kind
        return self._chosen_item([self.cast(item, kind) for item in items], self.index(at))

    def _chosen_item(self, items: list[Value], at: Value) -> Value:
        """Of equal ones, which stand on the stack for that."""
        kind, parts = items[0].type, []
        for j, llvm in enumerate(kind.parts):
            room = self.room(f"[{len(items)} x {llvm}]")
            for k, item in enumerate(items):
                place = self.new(f"getelementptr inbounds {llvm}, ptr {room}, i64 {k}")
                self.put(f"store {llvm} {item.parts[j]}, ptr {place}")
            place = self.new(f"getelementptr inbounds {llvm}, ptr {room}, i64 {at.parts[0]}")
            parts.append(self.new(f"load {llvm}, ptr {place}"))
        return Value(kind, tuple(parts))

    def _attribute(self, node: ast.Attribute) -> Value:
        if node.attr == "data" and isinstance(node.value, ast.Attribute) and node.value.attr == "ctypes":
            array = self.expression(node.value.value)
            return Value(INT, (self.new(f"ptrtoint ptr {array.parts[0]} to i64"),))
        value = self.expression(node.value)
        if isinstance(value.type, Known):
            return self._global(getattr(value.type.value, node.attr))
        if isinstance(value.type, Tuple) and node.attr in value.type.names:
            return self.items(value)[value.type.names.index(node.attr)]
        if isinstance(value.type, Array):
            lengths = [self.length(value, axis) for axis in range(value.type.ndim)]
            if node.attr == "shape":
                return self.together(lengths)
            if node.attr == "size":
                return self.entries(value)
        raise NotTranslated(f"`{ast.unparse(node)}` has no machine code")

    def entries(self, array: Value) -> Value:
        """How many an array has."""
        out = number(1)
        for axis in range(array.type.ndim):  # type: ignore[union-attr]
            out = self.arithmetic("*", out, self.length(array, axis))
        return out

    # calls

    def _call(self, node: ast.Call) -> Value:
        given = [self.expression(x) for x in node.args]
        if isinstance(node.func, ast.Attribute):
            owner = self.expression(node.func.value)
            method = getattr(np.ndarray, node.func.attr, None)
            if isinstance(owner.type, Array) and method in HANDLERS:
                return HANDLERS[method](self, [owner, *given])
        function = self.expression(node.func)
        if not isinstance(function.type, Known):
            raise NotTranslated(f"`{ast.unparse(node.func)}` is no function")
        call = function.type.value
        named = {k.arg or "": self.expression(k.value) for k in node.keywords}
        if call in (np.zeros, np.empty):
            return self._dtyped_array(given, named, cleared=call is np.zeros)
        if _hashable(call) and call in HANDLERS:
            return HANDLERS[call](self, given)
        if isinstance(call, type) and issubclass(call, tuple) and hasattr(call, "_fields"):
            named = {**dict(zip(call._fields, given, strict=False)), **named}
            return self.together([named[name] for name in call._fields], call._fields)
        if isinstance(call, FunctionType) or hasattr(call, "py_func"):
            return self.called(call, given, named)
        raise NotTranslated(f"{getattr(call, '__name__', call)} has no machine code")

    def _dtyped_array(self, given: list[Value], named: dict[str, Value], *, cleared: bool) -> Value:
        told = given[1] if len(given) > 1 else named.get("dtype", known(float))
        return self.array_of(self.shape(given[0]), STORED[np.dtype(told.type.value)], cleared=cleared)  # type: ignore[union-attr]

    def shape(self, told: Value) -> list[Value]:
        """Lengths, of which one alone may be given as a number."""
        return self.items(told) if not isinstance(told.type, Number) else [told]

    def array_of(self, lengths: list[Value], kind: Number, *, cleared: bool = False) -> Value:
        """A new one: on the stack where its lengths are known and it ends with the function."""
        sizes = [x.known for x in lengths]
        if not self.hands_on and not any(size is None for size in sizes):
            room = self.room(f"[{int(np.prod(sizes))} x {kind.stored}], align 16")
            if cleared:
                self.put(f"store [{int(np.prod(sizes))} x {kind.stored}] zeroinitializer, ptr {room}")
            return Value(Array(kind, len(sizes), True), (room, *(str(size) for size in sizes)))
        self.changed, self.makes = self.changed or not self.makes, True
        size = number(np.dtype(kind.dtype).itemsize)
        for length in lengths:
            size = self.arithmetic("*", size, self.index(length))
        made = "cleared" if cleared else "made"
        room = self.new(f"call ptr @rooms.{made}(ptr %rooms, i64 {size.parts[0]})")
        return Value(Array(kind, len(lengths), True), (room, *(self.cast(x, INT).parts[0] for x in lengths)))


def _hashable(x: Any) -> bool:
    return not isinstance(x, ModuleType) and getattr(type(x), "__hash__", None) is not None
