"""What an FMU of a tree of joints computes with: the recursions that advance it here, as LLVM text for C.

The tree's arrays become constants of the module, what a step works in lies on the stack: a unit has no other state than
the private one that its runtime keeps. Where steps are divided (`VariedMultibody`) there is no unit.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import casadi as ca
import numpy as np

from sim.compiler.loops import STEP
from sim.compiler.vector_code import Function
from sim.contact.trees import NO_GROUND
from sim.fmu.description import Interface
from sim.integrators import Integrator
from sim.integrators.multibody import VariedMultibody
from sim.multibody.arrays import Loads
from sim.multibody.loops import OPEN_MAX_M, close_gaps, keep_closed
from sim.multibody.observing import observe_node
from sim.multibody.stepping import node_velocities
from sim.native.text import splat
from sim.native.translator import Program, returned
from sim.native.types import Array, Number, Tuple, type_of
from sim.native.values import number
from sim.platform.errors import InputError
from sim.steppers.bound_tree import NO_WRENCHES
from sim.steppers.dynamics import tree_stepper
from sim.steppers.tree import ACCELERATED, TreeStepper
from sim.steppers.tree_rollouts import ClosedLane, OpenLane, variational_start
from sim.vehicles.forms.articulated import ArticulatedVehicle

START = ("node", "u", "w", "p", "h", "y")
OUTPUTS = ("node", "u", "p", "out")
DIRECTIONAL = ("y", "u", "w", "p", "h", "du", "dp", "dout")
"""Tables of the functions, as kernels have them."""
_SHARE = 2.0**-10
"""Of a direction of torques, by which outputs are compared: they are linear in these, but for the largest one."""


class _Tree:
    """A tree under a method with a step's length, and the module that it is printed into."""

    def __init__(self, vehicle: ArticulatedVehicle, stepper: TreeStepper, h: float) -> None:
        self.vehicle, self.stepper = vehicle, stepper
        self.bound, self.reported = stepper.bound(vehicle.parameter_vector, h)
        self.nq, self.nv = vehicle.tree.nq, vehicle.tree.nv
        self.rule = ACCELERATED.get(stepper.integrator.name)
        self.program, self.functions = Program(), list[Function]()
        self.closure = self.bound.closure
        self._kept: list[np.ndarray] = []
        self._begun: dict[str, dict[int, str]] = {}

    def function(self, name: str, table: Sequence[str]) -> Function:
        """One that is begun, with the addresses of its table."""
        made = Function(1)
        made.begin(name)
        made.pointers(*table)
        self.functions.append(made)
        return made

    @property
    def text(self) -> str:
        """Of the module, which declares every function of C's once."""
        lines = []
        for function in self.functions:
            self.program.declared |= function.declared
            lines += [*function.constants, *function.lines]
        return "\n".join([self.program.text, *lines, ""])

    def call(self, function: Function, called: Any, *given: Any) -> str:
        """Print a call of compiled code; the register of what it returns. given: numbers, what `place` and `scratch`
        have made, and what else becomes constants."""
        made = [x if isinstance(x, _Placed) else _Placed(*self._constant(x)) for x in given]
        name, returns = self.program.function(called, [x.kind for x in made])
        handed = ", ".join(part for x in made for part in x.parts)
        call = f'call {returned(returns)} @"{name}"({handed})'
        if not returns.parts:
            function.put(call)
            return ""
        return function.new(call)

    def _constant(self, value: Any) -> tuple[Any, list[str]]:
        if isinstance(value, np.ndarray):
            value = np.ascontiguousarray(value)
            self._kept.append(value)
            return type_of(value), [f"ptr @{self.program.array(value)}", *(f"i64 {n}" for n in value.shape)]
        if isinstance(value, tuple):
            made = _each(value, lambda item: _Placed(*self._constant(item)))
            return made.kind, made.parts
        kind = type_of(value)
        assert isinstance(kind, Number)
        return kind, [f"{kind.llvm} {number(value).parts[0]}"]

    def scratch(self, function: Function, like: Any) -> "_Placed":
        """Arrays on the stack, of zeros; of numbers constants."""

        def placed(like: Any) -> _Placed:
            if not isinstance(like, np.ndarray):
                return _Placed(*self._constant(like))
            kind = type_of(np.ascontiguousarray(like))
            assert isinstance(kind, Array)
            at = function.variable(kind=f"[{max(like.size, 1)} x {kind.element.stored}]")
            function.declared.add("declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)")
            function.put(
                f"call void @llvm.memset.p0.i64(ptr {at}, i8 0, i64 {max(like.nbytes, 1)}, i1 false)"
            )
            return _Placed(kind, [f"ptr {at}", *(f"i64 {n}" for n in like.shape)])

        return _each(like, placed)

    def place(self, function: Function, array: str, at: int, *shape: int) -> "_Placed":
        """Numbers at an address, `at` numbers behind it."""
        kind = type_of(np.zeros(shape))
        return _Placed(kind, [f"ptr {function.entry(array, at)}", *(f"i64 {n}" for n in shape)])

    def state(self, function: Function) -> "_Placed":
        """The private state in %y, as the rollout takes it."""
        y = np.zeros(self.stepper.private_size)

        def placed(view: np.ndarray) -> _Placed:
            return self.place(function, "%y", (view.ctypes.data - y.ctypes.data) // y.itemsize, *view.shape)

        return _each(self.stepper.state(y), placed)

    def torques(self, function: Function, u: ca.SX, forces: ca.SX) -> str:
        """Address of the controls' forces (nv + m,)."""
        known = [(u, function.loaded("%u", u.numel()))]
        return function.array(function.expression(known, ca.densify(forces)))

    def step_s(self, function: Function) -> "_Placed":
        return _Placed(type_of(1.0), [f"double {function.new('load double, ptr %h, align 8')}"])

    def node(self, function: Function, ws: "_Placed", closing: "_Placed | None", array: str) -> None:
        """Fill in the node of %y."""
        q, b = (self.place(function, "%y", *at) for at in ((0, self.nq), (self.nq, self.nv)))
        after_q, v = (self.place(function, array, *at) for at in ((0, self.nq), (self.nq, self.nv)))
        self.copy(function, q, after_q, self.nq)
        if self.rule is not None:
            self.copy(function, b, v, self.nv)
            return
        self.call(function, node_velocities, self.bound.arrays, ws, q, b, self.step_s(function), v)
        if self.closure is not None:
            self.call(function, keep_closed, self.bound.arrays, ws, self.closure.arrays, closing, q, v)

    def copy(self, function: Function, source: "_Placed", to: "_Placed", count: int) -> None:
        """Of numbers."""
        function.declared.add("declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)")
        at = f"{to.parts[0]}, {source.parts[0]}, i64 {8 * count}, i1 false"
        function.put(f"call void @llvm.memcpy.p0.p0.i64({at})")

    def closing(self, function: Function) -> "_Placed | None":
        return None if self.closure is None else self.scratch(function, self.closure.workspace)


class _Placed:
    """Something that is handed to compiled code: its type, and registers with theirs."""

    def __init__(self, kind: Any, parts: Sequence[str]) -> None:
        self.kind, self.parts = kind, list(parts)


def _tuple(names: Sequence[str], *items: _Placed) -> _Placed:
    return _Placed(
        Tuple(tuple(x.kind for x in items), tuple(names)), [part for x in items for part in x.parts]
    )


def _each(value: Any, placed: Callable[[Any], _Placed]) -> _Placed:
    """A tuple of tuples, each of whose items is handed over so."""
    if not isinstance(value, tuple):
        return placed(value)
    return _tuple(getattr(value, "_fields", ()), *(_each(item, placed) for item in value))


def tree_module(
    vehicle: ArticulatedVehicle, method: Integrator, h: float, interface: Interface
) -> tuple[str, int]:
    """Text of the module, with the functions of a kernel, and the size of the private state.

    Raises InputError where the method has no unit.
    """
    if isinstance(method, VariedMultibody):
        raise InputError(
            f"export_fmu: {method.name} divides its steps, which an FMU of a {vehicle.name} does not; "
            "allowed: variational"
        )
    stepper = tree_stepper(vehicle, method)
    tree = _Tree(vehicle, stepper, h)
    _start(tree)
    _rollout(tree, interface)
    _outputs(tree, interface)
    _directional(tree, interface)
    return tree.text, stepper.private_size


def _start(tree: _Tree) -> None:
    function, bound, nq, nv = tree.function("start", START), tree.bound, tree.nq, tree.nv
    ws, closing = tree.scratch(function, bound.workspace), tree.closing(function)
    whole = tree.place(function, "%y", 0, tree.stepper.private_size)
    function.declared.add("declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)")
    size = 8 * tree.stepper.private_size
    function.put(f"call void @llvm.memset.p0.i64({whole.parts[0]}, i8 0, i64 {size}, i1 false)")
    q, b = tree.place(function, "%y", 0, nq), tree.place(function, "%y", nq, nv)
    tree.copy(function, tree.place(function, "%node", 0, nq), q, nq)
    v = tree.scratch(function, np.zeros(nv))
    tree.copy(function, tree.place(function, "%node", nq, nv), v, nv)
    status = "0"
    if tree.closure is not None:
        way = tree.scratch(function, np.zeros(nv))
        loops = (bound.arrays, ws, tree.closure.arrays, closing)
        gap = tree.call(function, close_gaps, *loops, tree.closure.size, q, way, bound.tolerance)
        tree.call(function, keep_closed, *loops, q, v)
        near = function.new(f"fcmp ole double {gap}, {splat(OPEN_MAX_M, 1)}")
        status = function.new(f"select i1 {near}, i64 0, i64 1")
    if tree.rule is not None:
        tree.copy(function, v, b, nv)
    else:
        tree.call(function, variational_start, bound.arrays, ws, q, v, tree.step_s(function), b)
    function.end(f"i64 {status}")


def _rollout(tree: _Tree, interface: Interface) -> None:
    """Steps. The node is that from which the first of them starts."""
    function, bound, nv = tree.function("rollout", STEP), tree.bound, tree.nv
    ws, closing = tree.scratch(function, bound.workspace), tree.closing(function)
    contact = tree.scratch(function, NO_GROUND)
    tree.node(function, ws, closing, "%node")
    u = interface.u
    held = tree.torques(function, u, tree.vehicle.forces(u, tree.vehicle.own))
    push, wrenches = tree.scratch(function, np.zeros(nv)), _Placed(*tree._constant(NO_WRENCHES))
    steps, h = _Placed(type_of(1), ["i64 %n"]), tree.step_s(function)
    efforts = nv + len(bound.arrays.driven)
    shape = (efforts,) if tree.rule is None else (1, efforts)
    loads = _tuple(Loads._fields, tree.place(function, held, 0, *shape), push, wrenches)
    lane = _tuple(OpenLane._fields, _Placed(*tree._constant(bound.arrays)), ws, contact)
    if tree.stepper.closes:
        loops = _Placed(*tree._constant(bound.closing.arrays))
        closing = closing or tree.scratch(function, bound.closing.workspace)
        lane = _tuple(ClosedLane._fields, lane, loops, closing)
    method = tree.scratch(function, tree.stepper.made_method())
    given = (lane, method, tree.state(function), loads, h, steps)
    found = tree.call(function, tree.stepper.rollout, *given)
    done, status = (function.new(f"extractvalue {{ i64, i64 }} {found}, {k}") for k in (0, 1))
    function.put(f"store i64 {done}, ptr %counts, align 8")
    function.end(f"i64 {status}")


def _outputs(tree: _Tree, interface: Interface) -> None:
    function = tree.function("outputs", OUTPUTS)
    held = tree.torques(function, interface.u, tree.vehicle.forces(interface.u, tree.vehicle.own))
    for register in _observed(tree, function, interface, "%node", held):
        function.stored("%out", register)
    function.end()


def _observed(
    tree: _Tree, function: Function, interface: Interface, node: str, *held: str
) -> Iterator[list[str]]:
    """Registers of the outputs at a node under each of these forces."""
    nq, nv, size = tree.nq, tree.nv, interface.row.numel()
    efforts = nv + len(tree.bound.arrays.driven)
    ws = tree.scratch(function, tree.bound.workspace)
    q, v = tree.place(function, node, 0, nq), tree.place(function, node, nq, nv)
    for at in held:
        row = tree.scratch(function, np.zeros(size))
        given = (ws, tree.reported, q, v, tree.place(function, at, 0, efforts), row)
        tree.call(function, observe_node, tree.bound.arrays, *given)
        known = [
            (interface.row, function.loaded(row.parts[0].removeprefix("ptr "), size)),
            (interface.node, function.loaded(node, nq + nv)),
        ]
        yield function.expression(known, interface.outputs)


def _directional(tree: _Tree, interface: Interface) -> None:
    """How outputs change with controls: those that do are linear in the controls' forces, but for the largest force."""
    function, u = tree.function("directional", DIRECTIONAL), interface.u
    ws, closing = tree.scratch(function, tree.bound.workspace), tree.closing(function)
    du, forces = ca.SX.sym("du", u.numel()), tree.vehicle.forces(u, tree.vehicle.own)
    along = _SHARE * (ca.jtimes(forces, u, du) if u.numel() else ca.SX.zeros(forces.shape))
    known = [(u, function.loaded("%u", u.numel())), (du, function.loaded("%du", u.numel()))]
    held = [
        function.array(function.expression(known, ca.densify(forces + sign * along))) for sign in (1.0, -1.0)
    ]
    node = function.variable(kind=f"[{tree.nq + tree.nv} x double]")
    tree.node(function, ws, closing, node)
    above, below = _observed(tree, function, interface, node, *held)
    scale = splat(0.5 / _SHARE, 1)
    changes = [function.new(f"fsub double {a}, {b}") for a, b in zip(above, below, strict=True)]
    function.stored("%dout", [function.new(f"fmul double {x}, {scale}") for x in changes])
    function.end()
