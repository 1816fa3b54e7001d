"""Functions of Python as LLVM's text: the subset that computes with numbers, tuples and views of arrays.

What a variable holds is found by going through a function again until nothing is added: a number that is whole here and
real there is real, and a variable that is given another kind of thing is another one from there on. Functions that are
called become functions of the same module, once for each types of their arguments; LLVM inlines them as it sees fit, or
everywhere where that was asked for. Arrays that a function makes last until it returns; where it returns arrays, until
its caller does. Indices are as in Python, those from the end too, but are not checked; quotients are the processor's,
which raise nothing.
"""

import ast
import inspect
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np

from sim.native import operations  # noqa: F401 # registers what functions may call
from sim.native.expressions import OPERATORS, Expressions, Loop
from sim.native.types import INT, NOTHING, STORED, Array, Type, common, held, holds_array
from sim.native.values import EMPTY, NotTranslated, Value, number

_ROOMS = """declare ptr @malloc(i64)
declare ptr @calloc(i64, i64)
declare void @free(ptr)
define internal ptr @rooms.noted(ptr %rooms, ptr %room) alwaysinline {
  %before = load ptr, ptr %rooms
  store ptr %before, ptr %room
  store ptr %room, ptr %rooms
  %array = getelementptr i8, ptr %room, i64 16
  ret ptr %array
}
define internal ptr @rooms.made(ptr %rooms, i64 %size) {
  %whole = add i64 %size, 16
  %room = call ptr @malloc(i64 %whole)
  %array = call ptr @rooms.noted(ptr %rooms, ptr %room)
  ret ptr %array
}
define internal ptr @rooms.cleared(ptr %rooms, i64 %size) {
  %whole = add i64 %size, 16
  %room = call ptr @calloc(i64 1, i64 %whole)
  %array = call ptr @rooms.noted(ptr %rooms, ptr %room)
  ret ptr %array
}
define internal void @rooms.freed(ptr %rooms) {
entry:
  %first = load ptr, ptr %rooms
  br label %head
head:
  %room = phi ptr [ %first, %entry ], [ %next, %body ]
  %ends = icmp eq ptr %room, null
  br i1 %ends, label %end, label %body
body:
  %next = load ptr, ptr %room
  call void @free(ptr %room)
  br label %head
end:
  ret void
}"""
"""Arrays whose lengths are not known: each begins, 16 bytes ahead, with the address of the one made before it."""
_MOST_TIMES = 20
LONG = 600
"""Lines: whoever calls a longer function takes it in only where LLVM finds that good."""


class Program:
    """A module of functions."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.declared: set[str] = set()
        self._made: dict[Any, tuple[str, Type]] = {}
        self._arrays: dict[int, tuple[np.ndarray, str]] = {}

    @property
    def text(self) -> str:
        """LLVM's."""
        return "\n".join([_ROOMS, *sorted(self.declared), *self.texts])

    def function(self, function: Any, takes: Sequence[Type]) -> tuple[str, Type]:
        """Name of a function for such arguments, and what it returns. Raises NotTranslated with its line."""
        plain: FunctionType = getattr(function, "py_func", function)
        key = plain, tuple(takes)
        if key not in self._made:
            options = getattr(function, "options", {})
            self._made[key] = "", NOTHING  # while it is gone through
            name = f"{plain.__module__}.{plain.__qualname__}.{len(self._made)}".replace("<locals>.", "")
            self._made[key] = _Function(self, plain, options).translated(name, takes)
        if not self._made[key][0]:
            raise NotTranslated(f"{plain.__name__} calls itself")
        return self._made[key]

    def array(self, array: np.ndarray) -> str:
        """Name of a constant array."""
        if id(array) not in self._arrays:
            kind, name = STORED[array.dtype], f"array.{len(self._arrays)}"
            entries = (number(x.item()) for x in array.ravel())
            given = [x.parts[0] if kind.llvm != "i1" else str(int(x.known)) for x in entries]
            told = ", ".join(f"{kind.stored} {x}" for x in given)
            self.texts.append(f"@{name} = private constant [{array.size} x {kind.stored}] [{told}], align 16")
            self._arrays[id(array)] = array, name
        return self._arrays[id(array)][1]


def fast(options: dict[str, Any]) -> str:
    """LLVM's flags of arithmetic that options ask for."""
    return "".join(f" {flag}" for flag in sorted(options.get("fastmath", ())))


@cache
def _syntax(file: str) -> dict[tuple[str, int], ast.FunctionDef]:
    """Functions of a file by name and first line, which is that of their first decorator."""
    found = {}
    waiting: list[ast.AST] = [ast.parse(Path(file).read_text(encoding="utf-8"))]
    for node in waiting:  # of statements alone: expressions are many, and declare none
        waiting += [*getattr(node, "body", ()), *getattr(node, "orelse", ())]
        if isinstance(node, ast.FunctionDef):
            first = min([node.lineno, *(x.lineno for x in node.decorator_list)])
            found[node.name, first] = node
    return found


class _Function(Expressions):
    """One function for one list of types."""

    def __init__(self, program: Program, function: FunctionType, options: dict[str, Any]) -> None:
        super().__init__(function, fast(options))
        self._program, self._options = program, options
        code = function.__code__
        self._node = _syntax(code.co_filename)[function.__name__, code.co_firstlineno]
        self._returns: Type | None = None
        self._loops: list[tuple[str, str]] = []
        """Blocks that `continue` and `break` go to."""

    def translated(self, name: str, takes: Sequence[Type]) -> tuple[str, Type]:
        """Go through it until nothing is added, and put it into the program."""
        self._counting = self._counters()
        for _ in range(_MOST_TIMES):
            self.lines, self.allocated, self.changed, self.ended = [], [], False, False
            self._variables, self._latest, self.loops = {}, {}, []
            self._take(takes)
            if self.makes and not self.hands_on:
                self.allocated += ["  %rooms = alloca ptr", "  store ptr null, ptr %rooms"]
            self._statements(self._node.body)
            if not self.ended:
                self._give(EMPTY)
            if not self.changed:
                break
        else:
            raise NotTranslated("what its variables hold is not found")
        kind = self._returns or NOTHING
        taken, at = ["ptr %rooms"] if self.hands_on else [], 0
        for one in takes:
            for part in one.parts:
                taken.append(f"{part} %a{at}")
                at += 1
        short = len(self.lines) < LONG and self._options.get("forceinline")
        inlined = " alwaysinline" if short else " inlinehint" if self._options.get("forceinline") else ""
        inlined = " noinline" if self._options.get("noinline") else inlined
        head = f'define internal {returned(kind)} @"{name}"({", ".join(taken)}) nounwind{inlined} {{'
        self._program.texts.append("\n".join([head, "entry:", *self.allocated, *self.lines, "}"]))
        self._program.declared |= self.declared
        return name, kind

    def _take(self, takes: Sequence[Type]) -> None:
        names = [a.arg for a in self._node.args.args]
        if len(names) != len(takes):
            raise NotTranslated(f"{self._node.name} takes {len(names)} arguments, not {len(takes)}")
        at = 0
        for name, kind in zip(names, takes, strict=True):
            parts = tuple(f"%a{at + k}" for k in range(len(kind.parts)))
            at += len(parts)
            self.assign(name, Value(kind, parts))

    def _counters(self) -> set[str]:
        """Variables that loops over `range` alone set, upwards from no less than zero as far as syntax tells."""
        nodes = list(ast.walk(self._node))
        loops = [
            n
            for n in nodes
            if isinstance(n, ast.For) and isinstance(n.target, ast.Name) and _is_range(n.iter)
        ]
        owned = {id(n.target) for n in loops}
        found = {n.target.id for n in loops}  # type: ignore[attr-defined]
        other = {
            n.id
            for n in nodes
            if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store) and id(n) not in owned
        }
        return found - other - {a.arg for a in self._node.args.args}

    # statements

    def _statements(self, nodes: Sequence[ast.stmt]) -> None:
        for node in nodes:
            if self.ended:
                return
            try:
                getattr(self, f"_{type(node).__name__.lower()}_", self._unknown)(node)
            except NotTranslated as error:
                if str(error).startswith("line "):
                    raise
                raise NotTranslated(self._where(node, error)) from None

    def _where(self, node: ast.stmt, error: object) -> str:
        file = Path(self._function.__code__.co_filename).name
        return f"line {node.lineno} of {file}: {error}"

    def _unknown(self, node: ast.stmt) -> None:
        raise NotTranslated(f"`{ast.unparse(node).splitlines()[0]}` has no machine code")

    def _expr_(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):
            self.expression(node.value)

    def _pass_(self, node: ast.Pass) -> None:
        pass

    def _assert_(self, node: ast.Assert) -> None:
        pass

    def _assign_(self, node: ast.Assign) -> None:
        value = self.expression(node.value)
        for target in node.targets:
            self._put(target, value)

    def _annassign_(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self._put(node.target, self.expression(node.value))

    def _augassign_(self, node: ast.AugAssign) -> None:
        op, target = OPERATORS[type(node.op)], node.target
        if isinstance(target, ast.Name):
            before = self.expression(ast.Name(target.id, ast.Load()))
            self._put(target, self.arithmetic(op, before, self.expression(node.value)))
            return
        if not isinstance(target, ast.Subscript):
            raise NotTranslated(f"`{ast.unparse(node)}` has no machine code")
        place = self.view(self.expression(target.value), self.indices(target.slice))
        amount = self.expression(node.value)
        if place.type.ndim:  # type: ignore[union-attr]
            raise NotTranslated(f"`{ast.unparse(node)}` has no machine code: it changes many numbers")
        self.write(
            place.parts[0],
            place.type.element,  # type: ignore[union-attr]
            self.arithmetic(op, self.loaded(place), amount),
        )

    def _put(self, target: ast.expr, value: Value, *, anew: bool = False) -> None:
        if isinstance(target, ast.Name):
            self.assign(target.id, value, anew=anew)
        elif isinstance(target, ast.Tuple):
            items = self._unpacked(value, len(target.elts))
            for one, item in zip(target.elts, items, strict=True):
                self._put(one, item)
        elif isinstance(target, ast.Subscript):
            place = self.view(self.expression(target.value), self.indices(target.slice))
            self.fill(place, value)
        else:
            raise NotTranslated(f"`{ast.unparse(target)}` cannot be given a value")

    def _unpacked(self, value: Value, count: int) -> list[Value]:
        if isinstance(value.type, Array):
            views = [self.view(value, [number(k)]) for k in range(count)]
            return [self.loaded(v) if v.type.ndim == 0 else v for v in views]  # type: ignore[union-attr]
        items = self.items(value)
        if len(items) != count:
            raise NotTranslated(f"{len(items)} values are no {count}")
        return items

    def fill(self, place: Value, value: Value) -> None:
        """The entries of a view, by a number or by as many others."""
        kind = place.type
        assert isinstance(kind, Array)
        if kind.ndim == 0:
            self.write(place.parts[0], kind.element, value)
            return
        begin, end, step = number(0), self.length(place, 0), number(1)
        with_axis = self._loop(begin, end, step)
        index = next(with_axis)
        own = self.view(place, [index])
        other = value
        if isinstance(value.type, Array) and value.type.ndim == kind.ndim:
            other = self.view(value, [index])
            other = self.loaded(other) if kind.ndim == 1 else other
        self.fill(own, other)
        next(with_axis, None)

    def _loop(self, begin: Value, end: Value, step: Value, blocks: tuple[str, str] | None = None) -> Any:
        """Yields the index at the beginning of a body, which the caller writes before going on."""
        if not isinstance(step.known, int) or step.known == 0:
            raise NotTranslated("a range's step has to be known")
        head, body = self.fresh(), self.fresh()
        again, after = blocks or (self.fresh(), self.fresh())
        room = self.room("i64")
        self.put(f"store i64 {begin.parts[0]}, ptr {room}")
        self.jump(head)
        self.label(head)
        at = self.new(f"load i64, ptr {room}")
        counts = begin.counts and step.known > 0
        index = Value(INT, (at,), counts=counts)
        further = self.compare("<" if step.known > 0 else ">", index, end)
        self.branch(further.parts[0], body, after)
        self.label(body)
        yield index
        self.jump(again)
        self.label(again)
        self.put(f"store i64 {self.new(f'add nsw i64 {at}, {step.known}')}, ptr {room}")
        self.jump(head)
        self.label(after)

    def _for_(self, node: ast.For) -> None:
        again, after, otherwise = self.fresh(), self.fresh(), self.fresh()
        self.loops.append(Loop())
        if _is_range(node.iter):
            assert isinstance(node.iter, ast.Call)
            given = [self.cast(self.expression(x), INT) for x in node.iter.args]
            begin, end = (number(0), given[0]) if len(given) == 1 else given[:2]
            step = given[2] if len(given) == 3 else number(1)
            self._run(node, begin, end, step, again, otherwise, after, None)
        else:
            value = self.expression(node.iter)
            if isinstance(value.type, Array):
                ends = number(0), self.length(value, 0), number(1)
                self._run(node, *ends, again, otherwise, after, value)
            else:
                self._unroll(node, self.items(value), otherwise, after)
        self.loops.pop()
        self._statements(node.orelse)
        self.jump(after)
        self.label(after)

    def _run(
        self,
        node: ast.For,
        begin: Value,
        end: Value,
        step: Value,
        again: str,
        otherwise: str,
        after: str,
        array: Value | None,
    ) -> None:
        running = self._loop(begin, end, step, (again, otherwise))
        index = next(running)
        if array is None:
            if isinstance(node.target, ast.Name) and not index.counts and node.target.id in self._counting:
                self._counting.discard(node.target.id)
                self.changed = True
            self._put(node.target, index, anew=True)
        else:
            one = self.view(array, [index])
            self._put(node.target, self.loaded(one) if one.type.ndim == 0 else one)  # type: ignore[union-attr]
        self._loops.append((again, after))
        self._statements(node.body)
        self._loops.pop()
        next(running, None)

    def _unroll(self, node: ast.For, items: list[Value], otherwise: str, after: str) -> None:
        for item in items:
            following = self.fresh()
            self._put(node.target, item)
            self._loops.append((following, after))
            self._statements(node.body)
            self._loops.pop()
            self.jump(following)
            self.label(following)
        self.jump(otherwise)
        self.label(otherwise)

    def _while_(self, node: ast.While) -> None:
        head, body, otherwise, after = (self.fresh() for _ in range(4))
        self.loops.append(Loop())
        self.jump(head)
        self.label(head)
        condition = self.truth(self.expression(node.test))
        self.branch(condition.parts[0], body, otherwise)
        self.label(body)
        self._loops.append((head, after))
        self._statements(node.body)
        self._loops.pop()
        self.jump(head)
        self.loops.pop()
        self.label(otherwise)
        self._statements(node.orelse)
        self.jump(after)
        self.label(after)

    def _break_(self, node: ast.Break) -> None:
        self.jump(self._loops[-1][1])

    def _continue_(self, node: ast.Continue) -> None:
        self.jump(self._loops[-1][0])

    def _if_(self, node: ast.If) -> None:
        condition = self.truth(self.expression(node.test))
        if condition.known is not None:
            self._statements(node.body if condition.known else node.orelse)
            return
        yes, no, end = self.fresh(), self.fresh(), self.fresh()
        self.branch(condition.parts[0], yes, no)
        open_ends = 0
        for name, branch in ((yes, node.body), (no, node.orelse)):
            self.label(name)
            self._statements(branch)
            if not self.ended:
                self.jump(end)
                open_ends += 1
        if open_ends:
            self.label(end)

    def _return_(self, node: ast.Return) -> None:
        self._give(EMPTY if node.value is None else self.expression(node.value))

    def _give(self, value: Value) -> None:
        kind = held(value.type)
        both = kind if self._returns is None else common(self._returns, kind)
        if both is None:
            raise NotTranslated("this returns now this, now that")
        if both != self._returns:
            self.changed, self._returns = self._returns is not None or self.changed, both
        if holds_array(both) and not self.hands_on:
            self.changed = self.hands_on = True
        parts, llvm = self.cast(value, both).parts if both != NOTHING else (), both.parts
        if self.makes and not self.hands_on:
            self.put("call void @rooms.freed(ptr %rooms)")
        if not parts:
            self.put("ret void")
        elif len(parts) == 1:
            self.put(f"ret {llvm[0]} {parts[0]}")
        else:
            whole = "undef"
            for k, (part, one) in enumerate(zip(parts, llvm, strict=True)):
                whole = self.new(f"insertvalue {returned(both)} {whole}, {one} {part}, {k}")
            self.put(f"ret {returned(both)} {whole}")
        self.ended = True

    # what expressions ask for

    def called(self, function: Any, given: list[Value], named: dict[str, Value]) -> Value:
        plain: FunctionType = getattr(function, "py_func", function)
        values = self._bound_to(plain, given, named)
        name, kind = self._program.function(function, [v.type for v in values])
        taken = [f"{llvm} {part}" for v in values for llvm, part in zip(v.type.parts, v.parts, strict=True)]
        if holds_array(kind):
            self.changed, self.makes = self.changed or not self.makes, True
            taken.insert(0, "ptr %rooms")
        text = f'call {returned(kind)} @"{name}"({", ".join(taken)})'
        if not kind.parts:
            self.put(text)
            return Value(kind)
        whole = self.new(text)
        if len(kind.parts) == 1:
            return Value(kind, (whole,))
        parts = tuple(self.new(f"extractvalue {returned(kind)} {whole}, {k}") for k in range(len(kind.parts)))
        return Value(kind, parts)

    def _bound_to(self, plain: FunctionType, given: list[Value], named: dict[str, Value]) -> list[Value]:
        if not named and len(given) == plain.__code__.co_argcount:
            return given
        bound = inspect.signature(plain).bind(*given, **named)
        bound.apply_defaults()
        return [x if isinstance(x, Value) else self._global(x) for x in bound.args]

    def constant_array(self, array: np.ndarray) -> Value:
        name = self._program.array(array)
        return Value(
            Array(STORED[array.dtype], array.ndim, True), (f"@{name}", *(str(n) for n in array.shape))
        )


def _is_range(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range"


def returned(kind: Type) -> str:
    """What LLVM calls the type of a function's result."""
    if not kind.parts:
        return "void"
    return kind.parts[0] if len(kind.parts) == 1 else f"{{ {', '.join(kind.parts)} }}"
