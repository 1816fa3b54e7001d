"""A user's own costs and constraints: functions that give CasADi expressions, checked before anything is solved.

Each takes what it wants of `ARGUMENTS` by these names. Tasks whose functions give the same expressions share a problem,
and the numbers that these are given may change without building it anew.
"""

import inspect
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Literal, get_args

import casadi as ca
import numpy as np

from sim.planner.task.refusal import refused
from sim.planner.task.task import PathConstraint, Task
from sim.platform.errors import one_of, quote
from sim.platform.values import dataclass
from sim.vehicles.forms.base import Vehicle
from sim.vehicles.forms.parameters import Quantities

ARGUMENTS = ("node", "controls", "time", "parameters", "bodies", "reference")
"""Names that a function's arguments may have: numbers of the state, of the controls, seconds since the start, the
vehicle's parameters and the task's own numbers, poses (4, 4) of bodies in the world, and numbers of the reference."""
_RELATIONS = {ca.OP_LE: -np.inf, ca.OP_LT: -np.inf, ca.OP_EQ: 0.0}
"""Lowest value of the left side less the right one; the highest is 0."""
Where = Literal["path", "end"]
WHERE: tuple[str, ...] = get_args(Where)


class Named(Mapping[str, ca.SX]):
    """Symbols by name. KeyError with what is allowed for another one."""

    def __init__(self, what: str, given: Mapping[str, ca.SX]) -> None:
        self._what, self._given = what, given

    def __getitem__(self, name: str) -> ca.SX:
        if name not in self._given:
            allowed = one_of(list(self._given), name) if self._given else "none"
            raise KeyError(f"unknown {self._what} {quote(name)}; allowed: {allowed}")
        return self._given[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._given)

    def __len__(self) -> int:
        return len(self._given)


@dataclass(frozen=True, eq=False)
class OwnSymbols:
    """What functions of a user are given, as columns of symbols."""

    vehicle: Vehicle
    node: ca.SX
    controls: ca.SX
    time: ca.SX
    parameters: ca.SX
    """Of the vehicle."""
    numbers: ca.SX
    """Of the task, as `own_numbers` has them."""
    reference: ca.SX
    names: tuple[tuple[str, ...], tuple[str, ...]]
    """Of the task's numbers and of the reference's."""

    @staticmethod
    def of(vehicle: Vehicle, task: Task) -> "OwnSymbols":
        """New ones."""
        names = tuple(task.numbers), task.reference.columns if task.reference else ()
        sizes = (
            vehicle.node_layout.size,
            len(vehicle.controls),
            1,
            vehicle.parameter_count,
            len(names[0]) + len(names[1]),
            len(names[1]),
        )
        words = ("node", "controls", "time", "parameters", "numbers", "reference")
        symbols = [ca.SX.sym(word, size) for word, size in zip(words, sizes, strict=True)]
        node, controls, time, parameters, numbers, reference = symbols
        return OwnSymbols(vehicle, node, controls, time, parameters, numbers, reference, names)

    @property
    def columns(self) -> list[ca.SX]:
        """All of them, as the functions of `OwnTerms` take them."""
        return [self.node, self.controls, self.time, self.parameters, self.numbers, self.reference]

    @cached_property
    def _quantities(self) -> Quantities:
        return self.vehicle.symbols(self.parameters)

    def argument(self, name: str) -> Any:
        """What a function gets by one of `ARGUMENTS`."""
        vehicle = self.vehicle
        if name == "time":
            return self.time
        if name == "bodies":
            return Named("body", vehicle.bodies(self.node, self._quantities))
        if name == "node":
            space = vehicle.space
            parts = {part: self.node[at] for part, at in space.slices.items()}
            return Named(
                "number of the state", parts | {c: self.node[i] for i, c in enumerate(space.columns)}
            )
        if name == "controls":
            return Named("control", {c.name: self.controls[i] for i, c in enumerate(vehicle.controls)})
        if name == "reference":
            return Named(
                "number of the reference", {c: self.reference[i] for i, c in enumerate(self.names[1])}
            )
        at, found = 0, {}
        for q in vehicle.parameters:
            found[q.name] = self.parameters[at : at + q.size]
            at += q.size
        return Named("parameter", found | {c: self.numbers[i] for i, c in enumerate(self.names[0])})


@dataclass(frozen=True, eq=False)
class OwnRow:
    """One scalar relation, low <= value <= 0."""

    name: str
    value: ca.Function
    """Of the symbols' columns."""
    low: float
    at: Where
    of_controls: bool
    """It depends on controls: else a given start says whether it holds there."""
    node_columns: tuple[int, ...]
    """Numbers of the state that it depends on."""
    slopes: np.ndarray
    """(node size + controls,) magnitudes of its derivatives at start and goal, the larger of both."""


@dataclass(frozen=True, eq=False)
class OwnTerms:
    """All of a task's own functions, as functions of the symbols' columns."""

    rate: ca.Function | None
    """Cost per second."""
    end: ca.Function | None
    """Cost at the last node."""
    rows: tuple[OwnRow, ...]
    timed: bool
    """Something depends on time."""
    key: tuple[object, ...]
    """Equal ones mean the same expressions."""

    @property
    def rate_of_controls(self) -> bool:
        """The cost depends on controls, of which the last node may have none."""
        return self.rate is not None and self.rate.sparsity_jac(1, 0).nnz() > 0


def own_terms(vehicle: Vehicle, task: Task) -> OwnTerms | None:
    """The task's own costs and constraints; None where it has none. Raises TaskRefused for what is none of these."""
    if task.cost is None and task.end_cost is None and not task.constraints and task.reference is None:
        return None
    symbols = OwnSymbols.of(vehicle, task)
    rate = _rate(task, symbols)
    end = None if task.end_cost is None else _scalar(task, symbols, "end_cost", task.end_cost)
    rows: list[OwnRow] = []
    for i, given in enumerate(task.constraints, 1):
        rows += _rows(task, symbols, i, given)
    if not rows and rate is None and end is None:
        return None
    functions = [f for f in (rate, end, *(row.value for row in rows)) if f is not None]
    timed = any(f.sparsity_jac(2, 0).nnz() for f in functions)
    key = (
        None if rate is None else _text(rate),
        None if end is None else _text(end),
        *((row.name, row.low, row.at, _text(row.value)) for row in rows),
    )
    return OwnTerms(rate, end, tuple(rows), timed, key)


def _text(function: ca.Function) -> str:
    return str(function.serialize())


def _rate(task: Task, symbols: OwnSymbols) -> ca.Function | None:
    """The task's cost per second, with what strays from its reference."""
    own = None if task.cost is None else _scalar(task, symbols, "cost", task.cost)
    if task.reference is None or not task.reference.weights:
        return own
    columns, weights = symbols.vehicle.space.columns, symbols.numbers[len(task.numbers) :]
    total = own(*symbols.columns) if own is not None else ca.SX(0)
    for i, column in enumerate(task.reference.columns):
        if column in task.reference.weights:
            miss = symbols.node[columns.index(column)] - symbols.reference[i]
            miss = 2 * ca.sin(miss / 2) if column == "heading_rad" else miss
            total += weights[i] * miss**2
    return ca.Function("rate", symbols.columns, [total])


def own_numbers(task: Task) -> np.ndarray:
    """The task's own numbers, then the weights of its reference's columns."""
    reference = task.reference
    weights = [reference.weights.get(c, 0.0) for c in reference.columns] if reference else []
    return np.array([*task.numbers.values(), *weights], float)


def _called(task: Task, symbols: OwnSymbols, what: str, function: object) -> Any:
    """What a function gives of the arguments that it asks for by name."""
    if not callable(function):
        raise refused(
            task, f"{what} = {quote(function)} is refused; allowed: a function of {', '.join(ARGUMENTS)}"
        )
    try:
        wanted = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        raise refused(task, f"{what} tells no arguments; allowed: {', '.join(ARGUMENTS)}") from None
    names = [
        p.name for p in wanted if p.default is p.empty and p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)
    ]
    for name in names:
        if name not in ARGUMENTS:
            raise refused(task, f"{what} has an argument {name!r}; allowed: {one_of(ARGUMENTS, name)}")
    if any(p.kind is p.POSITIONAL_ONLY for p in wanted):
        raise refused(task, f"{what} takes arguments by place only; allowed: by name")
    try:
        return function(**{name: symbols.argument(name) for name in names})
    except Exception as error:
        text = str(error.args[0]) if isinstance(error, KeyError) and error.args else f"{error}"
        if "truth value" in text:
            raise refused(
                task,
                f"{what} asks whether an expression is true, as a <= b <= c does; allowed: [a <= b, b <= c], "
                "and casadi.if_else",
            ) from error
        line = " ".join(text.split()) or "no words"
        raise refused(task, f"{what} has raised {type(error).__name__}: {line[:300]}") from error


def _expression(task: Task, what: str, value: object, allowed: str) -> ca.SX:
    if isinstance(value, bool) or not isinstance(value, ca.SX | ca.DM | int | float | np.number):
        raise refused(task, f"{what} gives {quote(value)}; allowed: {allowed}")
    return ca.SX(value)  # type: ignore[arg-type]


def _scalar(task: Task, symbols: OwnSymbols, what: str, given: object) -> ca.Function:
    """A cost."""
    allowed = "one expression of what it is given"
    found = _expression(task, what, _called(task, symbols, what, given), allowed)
    if found.shape != (1, 1):
        raise refused(task, f"{what} gives {found.shape[0]} x {found.shape[1]} numbers; allowed: {allowed}")
    if found.is_symbolic() is False and _relation(found) is not None:
        raise refused(task, f"{what} gives a relation; allowed: {allowed}")
    function = _function(task, symbols, what, found)
    _check_derivatives(task, symbols, what, function)
    return function


def _relation(expression: ca.SX) -> int | None:
    """Which of `_RELATIONS` a scalar is."""
    try:
        op = expression.op()
    except RuntimeError:
        return None
    return op if op in _RELATIONS else None


def _rows(task: Task, symbols: OwnSymbols, number: int, given: object) -> list[OwnRow]:
    """Of one of the task's constraints, one for each scalar relation."""
    own = given if isinstance(given, PathConstraint) else PathConstraint(given)  # type: ignore[arg-type]
    plain = getattr(own.relation, "__name__", "<lambda>")
    name = own.name or (f"constraint {number}" if plain == "<lambda>" else plain)
    what = f"constraint {quote(name)}" if own.name else f"constraint {number}"
    if own.at not in WHERE:
        raise refused(task, f"{what} is at {quote(own.at)}; allowed: {', '.join(WHERE)}")
    allowed = "relations as a <= b, a >= b or a == b of what it is given"
    found = _called(task, symbols, what, own.relation)
    if isinstance(found, bool | np.bool_):
        raise refused(task, f"{what} gives {found} whatever the motion; allowed: {allowed}")
    relations: list[ca.SX] = []
    for one in _all(found):
        listed = ca.vec(ca.densify(_expression(task, what, one, allowed)))
        relations += [listed[i] for i in range(listed.shape[0])]
    if not relations:
        raise refused(task, f"{what} gives nothing; allowed: {allowed}")
    rows = []
    for relation in relations:
        op = _relation(relation)
        if op is None:
            raise refused(task, f"{what} gives {quote(str(relation)[:80])}; allowed: {allowed}")
        value = relation.dep(0) - relation.dep(1)
        function = _function(task, symbols, what, value)
        if not any(function.sparsity_jac(i, 0).nnz() for i in (0, 1)):
            raise refused(task, f"{what} depends on neither the state nor the controls; allowed: {allowed}")
        slopes = _check_derivatives(task, symbols, what, function)
        touched = np.unique(np.array(function.sparsity_jac(0, 0).get_triplet()[1], int))
        of_controls = bool(function.sparsity_jac(1, 0).nnz())
        low = _RELATIONS[op]
        rows.append(OwnRow(name, function, low, own.at, of_controls, tuple(touched.tolist()), slopes))
    return rows


def _all(found: object) -> Sequence[object]:
    return found if isinstance(found, list | tuple) else [found]


def _function(task: Task, symbols: OwnSymbols, what: str, value: ca.SX) -> ca.Function:
    strange = [s for s in ca.symvar(value) if not ca.depends_on(ca.vertcat(*symbols.columns), s)]
    if strange:
        raise refused(
            task,
            f"{what} depends on a symbol {quote(str(strange[0]))} of its own; allowed: what it is given, and numbers",
        )
    return ca.Function("own", symbols.columns, [ca.densify(value)], {"cse": True})


def _check_derivatives(task: Task, symbols: OwnSymbols, what: str, function: ca.Function) -> np.ndarray:
    """Value, first and second derivatives have to be numbers at start and goal; magnitudes of the first ones."""
    steepest = np.zeros(0)
    value = function(*symbols.columns)
    moving = ca.vertcat(symbols.node, symbols.controls)
    hessian, gradient = ca.hessian(value, moving)
    found = ca.Function("check", symbols.columns, [value, ca.densify(gradient), ca.densify(hessian)])
    vehicle, size = symbols.vehicle, symbols.node.shape[0]
    names = (*vehicle.space.columns, *(c.name for c in vehicle.controls))
    numbers = own_numbers(task)
    for where, state, time_s in (("start", task.start, 0.0), ("goal", task.goal.state, task.duration_s)):
        reference = task.reference.at(np.array([time_s]))[0] if task.reference else np.zeros(0)
        given = (state.node, vehicle.neutral_controls, time_s, vehicle.parameter_vector, numbers, reference)
        at, slope, bend = (np.array(x) for x in found(*given))
        if not np.isfinite(at).all():
            raise refused(task, f"{what} has no value at the {where}; allowed: one at every state")
        wrongs = {"first": ~np.isfinite(slope).ravel(), "second": ~np.isfinite(bend).all(axis=1)}
        for order, wrong in wrongs.items():
            if wrong.any():
                i = int(wrong.argmax())
                by = names[i] if i < len(names) else str(i - size)
                raise refused(
                    task,
                    f"{what} has no {order} derivative by {by} at the {where}; allowed: what is smooth, as "
                    "sqrt(x**2 + 1e-6) in place of a length",
                )
        found_here = np.abs(slope).ravel()
        steepest = np.maximum(steepest, found_here) if steepest.size else found_here
    return steepest
