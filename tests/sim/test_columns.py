"""Machine code for many columns gives what CasADi gives for each of them."""

import ctypes
import weakref
from collections.abc import Callable

import casadi as ca
import numpy as np
import pytest

from sim.compiler import columns
from sim.compiler.columns import Along, ColumnKernel, Repeated
from sim.compiler.copies import Piece, Place, loop
from sim.compiler.printer import linearised
from sim.compiler.vector_code import Function, module
from sim.native.objects import loaded

RNG = np.random.default_rng(3)


def by_casadi(function: ca.Function, inputs: list[np.ndarray], shared: tuple[int, ...]) -> list[np.ndarray]:
    """Column by column."""
    n = max(a.shape[0] for i, a in enumerate(inputs) if i not in shared)
    rows = [function.call([a if i in shared else a[k] for i, a in enumerate(inputs)]) for k in range(n)]
    return [np.array([np.array(row[j]).ravel() for row in rows]) for j in range(function.n_out())]


def differences(function: ca.Function, inputs: list[np.ndarray], shared: tuple[int, ...]) -> float:
    """Largest relative difference."""
    wanted = by_casadi(function, inputs, shared)
    found = [np.full_like(w, np.nan) for w in wanted]
    n = max(a.shape[0] for i, a in enumerate(inputs) if i not in shared)
    ColumnKernel(function, shared)(n, inputs, found)
    return max(
        float((np.abs(f - w) / (1.0 + np.abs(w))).max(initial=0.0))
        for f, w in zip(found, wanted, strict=True)
    )


@pytest.mark.parametrize("n", [1, 3, 4, 5, 64])
def test_any_number_of_columns_is_evaluated_and_shared_inputs_are_the_same_for_all(n):
    x, p = ca.SX.sym("x", 5), ca.SX.sym("p", 3)
    R = ca.skew(x[:3]) @ ca.skew(p) + ca.SX.eye(3) * ca.norm_2(x)
    f = ca.Function("f", [x, p], [ca.densify(ca.vec(ca.inv(R))), ca.SX(0, 1), x[3:] / p[:2]])
    assert differences(f, [RNG.normal(size=(n, 5)), RNG.uniform(1, 2, 3)], (1,)) < 1e-13  # 2e-15


@pytest.mark.parametrize("n", [1, 3, 4, 5, 64])
def test_derivatives_along_all_directions_are_the_jacobian(n):
    """Of sums, products, quotients, choices and functions of a library, one entry of which moves with no input."""
    x, p, v = ca.SX.sym("x", 6), ca.SX.sym("p", 2), ca.SX.sym("v", 6)
    y = ca.vertcat(
        x[:3] * ca.norm_2(x), ca.tan(x[3] / 9) / p[0], ca.if_else(x[4] < x[5], x[4], x[0] * x[1]), p[1]
    )
    f = ca.Function("f", [x, p, v], [ca.densify(ca.jtimes(y, x, v)), x[:2] * v[:2]], {"cse": True})
    whole = ca.Function("J", [x, p], [ca.densify(ca.jacobian(y, x)), ca.diag(x)[:2, :]])
    inputs, found = (
        [RNG.normal(size=(n, 6)), RNG.uniform(1, 2, 2)],
        [np.empty((n, 6, 6)), np.empty((n, 6, 2))],
    )
    ColumnKernel(f, (1,), along=Along(2))(n, [*inputs, np.eye(6)], found)
    for k in range(n):
        for J, wanted in zip(found, whole(inputs[0][k], inputs[1]), strict=True):
            np.testing.assert_allclose(J[k].T, wanted.full(), rtol=1e-13, atol=1e-13)  # 4e-16


OPERATIONS = {
    "arithmetic": lambda a, b: a * b + a / b - a**2 + 2 * b - 1 / (3 + a**2) + (-a) * 3.5,
    "powers": lambda a, b: ca.sqrt(1 + a**2) + ca.fabs(b) ** 1.7 + (2 + ca.fabs(a)) ** b,
    "circular": lambda a, b: ca.sin(a) + ca.cos(b) + ca.tan(a / 4) + ca.atan2(a, b) + ca.atan(b),
    "inverse": lambda a, b: ca.asin(a / 9) + ca.acos(b / 9) + ca.log(9 + a),
    "hyperbolic": lambda a, b: ca.sinh(a / 3) + ca.cosh(b / 3) + ca.tanh(a) + ca.exp(b / 3),
    "pieces": lambda a, b: ca.if_else(a < b, a, b * b) + ca.fmin(a, b) - ca.fmax(a, 0.3) + ca.sign(a) * ca.fabs(b),
    "logic": lambda a, b: ca.logic_and(a > 0, b <= 0) + 3 * ca.logic_or(a > 1, ca.logic_not(b > 1)),
    "equality": lambda a, b: (a == b) + 2 * (a != b) + 4 * (ca.floor(a) == ca.ceil(b)),
    "sign": lambda a, b: ca.copysign(a, b),
}  # fmt: skip


def native(function: ca.Function) -> Callable[[np.ndarray, np.ndarray], None]:
    """The function of one column (input, output) as a native one of numbers in one array."""
    x = ca.SX.sym("x", function.size1_in(0))
    made = Function()
    made.begin("f", "ptr %a, i64 %x, i64 %out", "void")
    loop(made, 1, [Piece([(x, Place("a", "x"))], function(x), Place("a", "out"))])
    made.end("void")
    engine = loaded(module([made]), optimised=True)
    call = ctypes.CFUNCTYPE(None, *[ctypes.c_int64] * 3)(engine.get_function_address("f"))

    def called(given: np.ndarray, out: np.ndarray) -> None:
        room = np.concatenate([given, np.full(out.size, np.nan)])
        call(room.ctypes.data, 0, given.size)
        out[:] = room[given.size :]
        assert engine

    return called


@pytest.mark.parametrize("name", OPERATIONS)
def test_every_operation_on_single_numbers_has_its_machine_code(name):
    x = ca.SX.sym("x", 2)
    f = ca.Function("f", [x], [ca.densify(OPERATIONS[name](x[0], x[1]))])
    call, found = native(f), np.empty(1)
    edges = [[a, b] for a in (-1.0, 0.0, 1.0) for b in (-1.0, 0.0, 1.0)]
    for column in np.concatenate([RNG.uniform(-3, 3, (40, 2)), edges]):
        call(column, found)
        np.testing.assert_allclose(found, np.array(f(column)).ravel(), rtol=1e-13, atol=1e-13)  # 9e-16


@pytest.mark.parametrize("n", [4, 5, 9])
def test_rows_of_a_jacobian_side_by_side_are_its_derivatives(n):
    """Of sums, products, quotients, choices and functions of a library, with an entry that is an unknown itself, one
    that moves with none, and numbers that are known."""
    x, p = ca.SX.sym("x", n), ca.SX.sym("p", 2)
    chosen = ca.if_else(x[0] < x[1], ca.sin(x[2]), x[0] * x[1]) + ca.fmax(x[2], p[0])
    quotients = p[1] / (2 + x[3] ** 2) + x[1] / p[0] - x[2] / 7
    y = ca.vertcat(ca.norm_2(x) * x[:2], ca.tan(x[3] / 9) / p[0], chosen, quotients, x[n - 1], p[1])
    made = Function()
    made.begin("f", "ptr %x, ptr %p, ptr %y, ptr %J", "void")
    made.stored("%y", linearised(made, [(x, "%x"), (p, "%p")], y, x, "%J"))
    made.end("void")
    engine = loaded(module([made]), optimised=True)
    call = ctypes.CFUNCTYPE(None, *[ctypes.c_int64] * 4)(engine.get_function_address("f"))
    wanted = ca.Function("J", [x, p], [y, ca.densify(ca.jacobian(y, x))])
    for _ in range(20):
        numbers, known = RNG.normal(size=n), RNG.uniform(1, 2, 2)
        value, J = np.full(y.numel(), np.nan), np.full((y.numel() + 1, n), np.nan)
        call(*(array.ctypes.data for array in (numbers, known, value, J)))
        expected = [found.full() for found in wanted(numbers, known)]
        np.testing.assert_allclose(value, expected[0].ravel(), rtol=1e-13, atol=1e-13)  # 5e-16
        np.testing.assert_allclose(J[:-1], expected[1], rtol=1e-13, atol=1e-13)  # 5e-16
        assert np.isnan(J[-1]).all()  # nothing is written behind it


def test_native_functions_go_from_copy_to_copy_and_read_all_before_they_write():
    """In place, each copy of two numbers turned about by its own angle; against NumPy."""
    x, angle = ca.SX.sym("x", 2), ca.SX.sym("angle")
    made = Function()
    made.begin("turned", "ptr %a, ptr noalias readonly %p", "void")
    c, s = ca.cos(angle), ca.sin(angle)
    turned = ca.vertcat(c * x[0] - s * x[1], s * x[0] + c * x[1])
    place = Place("a", begin=1, stride=3)
    loop(made, 4, [Piece([(x, place), (angle, Place("p", stride=1))], turned, place)])
    made.end("void")
    engine = loaded(module([made]))
    numbers, angles = RNG.normal(size=(4, 3)), RNG.normal(size=4)
    wanted = numbers.copy()
    for row, by in zip(wanted, angles, strict=True):
        row[1:] = np.cos(by) * row[1] - np.sin(by) * row[2], np.sin(by) * row[1] + np.cos(by) * row[2]
    call = ctypes.CFUNCTYPE(None, *[ctypes.c_int64] * 2)(engine.get_function_address("turned"))
    call(numbers.ctypes.data, angles.ctypes.data)
    np.testing.assert_allclose(numbers, wanted, atol=1e-14)  # 2e-16


@pytest.mark.parametrize("name", OPERATIONS)
def test_every_operation_of_an_expression_has_its_machine_code(name):
    x = ca.SX.sym("x", 2)
    f = ca.Function("f", [x], [ca.densify(OPERATIONS[name](x[0], x[1]))])
    edges = [[a, b] for a in (-1.0, 0.0, 1.0) for b in (-1.0, 0.0, 1.0)]
    columns = np.concatenate([RNG.uniform(-3, 3, (40, 2)), edges])
    if name in ("arithmetic", "circular"):
        columns = columns[:40]
    assert differences(f, [columns], ()) < 1e-13  # 4e-16


def test_an_operation_without_machine_code_is_refused():
    x = ca.SX.sym("x")
    with pytest.raises(TypeError, match="has no compiled form"):
        ColumnKernel(ca.Function("f", [x], [ca.erf(x)]))


@pytest.mark.parametrize("n", [1, 6])
def test_a_repeated_function_finds_its_fixed_point_in_every_column(n):
    z, a = ca.SX.sym("z", 2), ca.SX.sym("a", 2)
    change = -(z**2 - a) / (2 * z)
    newton = ca.Function("f", [a, z], [z + change, ca.norm_inf(change)])
    wanted = RNG.uniform(0.5, 9.0, (n, 2))
    found = np.ones((n, 2))
    ColumnKernel(newton, repeated=Repeated(argument=1, below=1e-8, most=30))(n, [wanted, found], [])
    assert np.abs(found - np.sqrt(wanted)).max() < 1e-14  # 9e-16


def test_a_repeated_function_that_finds_nothing_comes_back_and_one_that_is_no_number_stops_at_once():
    z, a = ca.SX.sym("z"), ca.SX.sym("a")
    counted = ColumnKernel(
        ca.Function("f", [a, z], [z + 1 + 0 * a, 1 + ca.sqrt(a)]),
        repeated=Repeated(argument=1, below=0.5, most=7),
    )
    for given, times in ((0.0, 7.0), (-1.0, 1.0)):
        found = np.zeros(1)
        counted(1, [np.array([given]), found], [])
        assert found[0] == times


def test_where_the_arrays_are_is_kept_until_the_call_ends(monkeypatch):
    """Other threads run meanwhile and take what nobody holds: windows crashed that observed many bodies."""
    x = ca.SX.sym("x", 3)
    kernel = ColumnKernel(ca.Function("f", [x], [2 * x]))
    made, kept, table, call = [], [], columns.table, kernel._call

    class Table(np.ndarray):
        """Numbers of its own, so that its end can be seen."""

    def watched(inputs, outputs):
        told = table(inputs, outputs).view(Table)
        made.append(weakref.ref(told))
        return told

    def called(at, n):
        kept.append(made[0]() is not None)
        call(at, n)

    monkeypatch.setattr(columns, "table", watched)
    monkeypatch.setattr(kernel, "_call", called)
    kernel.rows(np.ones((1, 3)))
    assert kept == [True]
