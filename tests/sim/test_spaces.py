"""Laws of spaces, of products of groups, and of groups that act on spaces."""

import casadi as ca
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.compiler.staged import runs
from sim.groups import SE2, SE3, SO3, SO3_R3, ProductGroup, Translations, power
from sim.spaces import Euclidean, GroupSpace, Power, Product, Sphere, TangentBundle, UnitQuaternions
from sim.spaces.action import (
    by_left_translation,
    motions_of_tangent_bundle,
    rotations_of_sphere,
    side_by_side,
    translations,
)

TS2 = TangentBundle()
LOAD = Product((Euclidean(6, "load"), Power(TS2, 2), Power(GroupSpace(SE3), 2)))
"""Where two quadrotors with a load are (but for their rotors' attitudes)."""
SPACES = {
    "R3": Euclidean(3),
    "SO3": GroupSpace(SO3),
    "SE2": GroupSpace(SE2),
    "SE3": GroupSpace(SE3),
    "S2": Sphere(),
    "TS2": TS2,
    "quaternions": UnitQuaternions(),
    "load": LOAD,
}
ACTIONS = {
    "SE3 on SE3": by_left_translation(SE3),
    "SO3 on S2": rotations_of_sphere(),
    "SE3 on TS2": motions_of_tangent_bundle(TS2),
    "R4 on R4": translations(Euclidean(4)),
    "SE3^2 on (TS2)^2": side_by_side(
        motions_of_tangent_bundle(TS2), motions_of_tangent_bundle(TangentBundle(Sphere("q2"), "w2"))
    ),
}
REGIMES = (1.0, 1e-7, 0.0)
rng = np.random.default_rng(8)


def number(expression, *values):
    return np.array(ca.evalf(ca.densify(ca.SX(expression(*(ca.SX(v) for v in values)))))).ravel()


def point(space, seed=None):
    """A generic one: the origin, displaced."""
    own = rng if seed is None else np.random.default_rng(seed)
    d = own.normal(size=space.dim)
    if isinstance(space, TangentBundle):
        q = number(space.displaced, space.origin(), np.r_[d[:3], 0, 0, 0])[:3]
        return np.r_[q, np.cross(q, d[3:])]
    if isinstance(space, Product):
        return np.concatenate([point(part) for part in space.parts])
    if hasattr(space, "space"):
        return point(space.space)
    return number(space.displaced, space.origin(), d)


@pytest.mark.parametrize("name", SPACES)
@pytest.mark.parametrize("size", REGIMES)
def test_a_difference_leads_to_the_other_point_and_half_of_it_lies_between(name, size):
    """Everyday, 1e-7 apart and the same point; measured 3e-15."""
    space = SPACES[name]
    for _ in range(8):
        a = point(space)
        b = point(space) if size == 1.0 else number(lambda p, q: space.between(p, q, size), a, point(space))
        d = number(space.difference, a, b)
        np.testing.assert_allclose(number(space.displaced, a, d), b, rtol=0, atol=2e-13)
        middle = number(lambda p, q: space.between(p, q, 0.5), a, b)
        assert np.abs(number(space.defect, middle)).max(initial=0.0) < 1e-13
        if size == 1e-7:
            far = number(space.difference, a, b) / 1e-7
            assert np.linalg.norm(far) > 1e-3
    assert np.abs(number(space.defect, space.origin())).max(initial=0.0) == 0.0


def test_slices_and_columns_name_every_number_once():
    for space in SPACES.values():
        covered = sorted(k for at in space.slices.values() for k in range(at.start, at.stop))
        assert covered == list(range(space.size))
        assert len(set(space.columns)) == len(space.columns) == space.size
    assert list(LOAD.slices) == [
        "load",
        "direction_1",
        "omega_1",
        "direction_2",
        "omega_2",
        "pose_1",
        "pose_2",
    ]


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 10**6), st.sampled_from([1e-9, 1e-7, 1e-3, 1.0, 3.0, 3.1415926, np.pi]))
def test_the_turn_between_directions_is_exact_at_any_angle(seed, angle):
    """No arccos: near 0 and near half a turn it would lose half of the digits; measured 2e-15."""
    own = np.random.default_rng(seed)
    q, aside = np.linalg.qr(own.normal(size=(3, 3)))[0][:2]
    turned = np.cos(angle) * q + np.sin(angle) * aside
    w = number(Sphere().difference, q, turned)
    assert np.linalg.norm(w) == pytest.approx(angle, rel=1e-9, abs=3e-16)
    np.testing.assert_allclose(number(Sphere().displaced, q, w), turned, rtol=0, atol=1e-15 * 10)
    assert abs(w @ q) < 1e-14


@pytest.mark.parametrize("name", ACTIONS)
@pytest.mark.parametrize("size", REGIMES)
def test_actions_are_actions(name, size):
    """Identity and compatibility; points stay in the space; measured 4e-15."""
    action = ACTIONS[name]
    group, space = action.group, action.space
    for _ in range(6):
        x, y = size * rng.normal(size=(2, group.dim))
        g, k, a = number(group.exp, x), number(group.exp, y), point(space)
        np.testing.assert_array_equal(number(action.act, group.identity(), a), a)
        one_by_one = number(action.act, g, number(action.act, k, a))
        at_once = number(lambda p, q, r: action.act(group.compose(p, q), r), g, k, a)
        np.testing.assert_allclose(one_by_one, at_once, rtol=0, atol=2e-14 * (1 + np.abs(at_once).max()))
        assert np.abs(number(space.defect, at_once)).max(initial=0.0) < 1e-13
        np.testing.assert_array_equal(number(action.moved, a, x), number(action.act, g, a))


@pytest.mark.parametrize("name", ACTIONS)
def test_a_generator_is_the_derivative_at_the_identity(name):
    """Central differences; measured 2e-10."""
    action, eps = ACTIONS[name], 1e-5
    for _ in range(4):
        x, a = rng.normal(size=action.group.dim), point(action.space)
        slope = (number(action.moved, a, eps * x) - number(action.moved, a, -eps * x)) / (2 * eps)
        np.testing.assert_allclose(number(action.generator, a, x), slope, rtol=0, atol=1e-8)


def test_the_generator_on_the_tangent_bundle_is_that_of_the_survey():
    """(u x q, u x omega + v x q)."""
    action, a = ACTIONS["SE3 on TS2"], point(TS2)
    u, v = rng.normal(size=(2, 3))
    expected = np.r_[np.cross(u, a[:3]), np.cross(u, a[3:]) + np.cross(v, a[:3])]
    np.testing.assert_allclose(number(action.generator, a, np.r_[u, v]), expected, atol=1e-15)


PRODUCTS = [ProductGroup((SO3, Translations(3))), ProductGroup((SE2, SE3, Translations(2))), power(SE3, 2)]


@pytest.mark.parametrize("group", PRODUCTS, ids=lambda g: g.name)
@pytest.mark.parametrize("size", REGIMES)
def test_products_of_groups_are_groups(group, size):
    for _ in range(4):
        x, y = size * 0.8 * rng.normal(size=(2, group.dim))
        g, k = number(group.exp, x), number(group.exp, y)
        np.testing.assert_allclose(number(group.log, g), x, rtol=0, atol=1e-13)
        np.testing.assert_allclose(number(group.cay_inv, number(group.cay, x)), x, rtol=0, atol=1e-13)
        back = number(lambda p: group.compose(p, group.inverse(p)), g)
        np.testing.assert_allclose(back, group.identity(), rtol=0, atol=1e-14)
        conjugated = number(lambda p, q: group.compose(group.compose(p, q), group.inverse(p)), k, g)
        turned = number(lambda p, q: group.exp(group.Ad(p) @ q), k, x)
        np.testing.assert_allclose(conjugated, turned, rtol=0, atol=1e-12)
        matrix = group.to_matrix(g) @ group.to_matrix(k)
        np.testing.assert_allclose(group.from_matrix(matrix), number(group.compose, g, k), rtol=0, atol=1e-13)


@pytest.mark.parametrize("group", PRODUCTS, ids=lambda g: g.name)
@pytest.mark.parametrize("tau", ["exp", "cay", "ccsk"])
def test_inverse_differentials_of_products(group, tau):
    """d/ds tau(x + s d) tau(x)^-1 at 0 is (d tau^-1)^-1 d: central differences, measured 5e-10."""
    x, d, eps = 0.7 * rng.normal(size=group.dim), rng.normal(size=group.dim), 1e-5
    maps = getattr(group, tau)

    def apart(p, q):
        return group.log(group.compose(maps(p), group.inverse(maps(q))))

    slope = (number(apart, x + eps * d, x) - number(apart, x - eps * d, x)) / (2 * eps)
    D = np.array(ca.evalf(ca.densify(getattr(group, f"d{tau}_inv")(ca.SX(x)))))
    np.testing.assert_allclose(D @ slope, d, rtol=0, atol=1e-7)


def test_the_product_with_translations_is_the_group_written_out():
    """SO(3) x R^3 as declared by hand."""
    group = PRODUCTS[0]
    x, g = rng.normal(size=6), number(SO3_R3.exp, rng.normal(size=6))
    for name, argument in (("exp", x), ("ad", x), ("dexp_inv", x), ("dcay_inv", x), ("Ad", g), ("log", g)):
        np.testing.assert_array_equal(
            number(getattr(group, name), argument), number(getattr(SO3_R3, name), argument)
        )


def test_parts_of_a_product_are_told_as_rows_that_repeat():
    """Loops of generated code: as few parts as make the product up, whatever the rows' length."""
    a, b, c = (translations(Euclidean(n, f"x{n}")) for n in (1, 2, 3))
    assert runs((a,)) == [((a,), 1)]
    assert runs((c, a, b, a, b, a, b, c, c)) == [((c,), 1), ((a, b), 3), ((c,), 2)]
    assert runs((a, b, c)) == [((a,), 1), ((b,), 1), ((c,), 1)]
    assert runs((a, a, a, b)) == [((a,), 3), ((b,), 1)]
