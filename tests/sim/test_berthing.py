"""Laws of berthing: the planar boat is the floating one without waves, what pushes is found out, thrust is optimal."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize

import sim
from sim.control.berthing import KNOT_S, MARGIN_M, OPEN, Berthing, framed, hull_discs, improve, nearness
from sim.control.planar_craft import CURRENT, FORCE, TORQUE, Disturbance, numbers_of, step, through_water
from sim.platform.errors import InputError

BOAT = sim.vehicle("motorboat", waves=0.0, gusts=0.0)
LOW, HIGH = np.full(2, -450.0), np.full(2, 900.0)
TOLERATED = np.array([0.2, 0.2, math.radians(2.0), 0.25, 0.25, 0.15])


@pytest.fixture(scope="module")
def numbers() -> np.ndarray:
    return numbers_of(BOAT)


def gone_on(boat: np.ndarray, state: np.ndarray, thrust: np.ndarray, seconds: float) -> np.ndarray:
    """The planar boat's own motion, at small steps."""
    for _ in range(round(seconds / 0.01)):
        after = np.empty(6)
        step(boat, state, thrust, 0.01, after)
        state = after
    return state


@pytest.mark.parametrize("thrust", [(300.0, 300.0), (400.0, 100.0), (-300.0, 200.0)])
def test_the_planar_boat_moves_as_the_floating_one_does_on_still_water(
    numbers: np.ndarray, thrust: tuple[float, float]
) -> None:
    current, u = (0.2, -0.3), np.array(thrust)
    boat = sim.vehicle("motorboat", waves=0.0, gusts=0.0, current=current)
    flown = sim.simulate(boat, "variational", step=0.02, duration=4.0, controls=u)
    node = flown.nodes[-1]
    R, x = node[:9].reshape(3, 3).T, node[9:12]
    told = numbers.copy()
    told[CURRENT : CURRENT + 2] = current
    state = gone_on(told, through_water(told, np.zeros(6)), u, 4.0)
    made = float(np.linalg.norm(x[:2]))
    # measured 3, 4 and 23 % of the way, 0.03, 0.17 and 0.49 rad: she trims and heels, which the plane does not know
    assert np.linalg.norm(state[:2] - x[:2]) < 0.3 * made
    assert state[2] == pytest.approx(math.atan2(R[1, 0], R[0, 0]), rel=0.25, abs=0.05)


def test_current_force_and_torque_are_found_out_on_the_way(numbers: np.ndarray) -> None:
    boat, true = numbers.copy(), np.array([0.3, -0.2, -40.0, 60.0, 20.0])
    boat[CURRENT : TORQUE + 1] = true
    found, state = Disturbance(), np.zeros(6)
    for k in range(3000):
        # Fast and slow by turns, on changing headings: only then can current and force be told apart.
        wanted = 450.0 if (k // 500) % 2 == 0 else 40.0
        thrust = wanted + np.array([-60.0, 60.0]) * math.sin(0.011 * k)
        c, s = math.cos(state[2]), math.sin(state[2])
        over = (
            np.array([c * state[3] - s * state[4], s * state[3] + c * state[4]]) + boat[CURRENT : CURRENT + 2]
        )
        found.see(numbers, np.array([*state[:3], *over, state[5]]), thrust, 0.02)
        after = np.empty(6)
        step(boat, state, thrust, 0.02, after)
        state = after
    told = found.adjusted(numbers)
    assert told[CURRENT : CURRENT + 2] == pytest.approx(true[:2], abs=0.09)  # measured 0.061
    assert told[FORCE : FORCE + 2] == pytest.approx(true[2:4], abs=15.0)
    assert told[TORQUE] == pytest.approx(true[4], abs=8.0)


def test_thrusts_are_those_of_least_cost_within_their_limits(numbers: np.ndarray) -> None:
    boat = numbers.copy()
    boat[CURRENT : TORQUE + 1] = 0.1, -0.25, 10.0, -50.0, 5.0
    start, knots, effort = np.array([-4.0, 0.8, 0.5, 1.6, -0.1, 0.1]), 12, 0.04

    def cost(flat: np.ndarray) -> float:
        thrusts = flat.reshape(knots, 2) * 1000.0
        return float(improve(boat, *OPEN, start, thrusts.copy(), KNOT_S, LOW, HIGH, effort, TOLERATED, 0))

    found = np.zeros((knots, 2))
    own = improve(boat, *OPEN, start, found, KNOT_S, LOW, HIGH, effort, TOLERATED, 60)
    assert (found >= LOW).all()
    assert (found <= HIGH).all()
    assert (found == LOW).any() or (found == HIGH).any()  # limits matter here
    bounds = [(-0.45, 0.9)] * (2 * knots)
    least = minimize(cost, found.ravel() / 1000.0, bounds=bounds, method="L-BFGS-B", options={"maxiter": 300})
    other = minimize(cost, np.zeros(2 * knots), bounds=bounds, method="L-BFGS-B", options={"maxiter": 300})
    # No better nearby, and no worse than where another method comes to from rest.
    assert own <= least.fun * 1.01 + 1e-3
    assert own <= other.fun * 1.01 + 1e-3


@pytest.mark.parametrize("drift", [(0.0, 0.0), (0.1, 0.3), (-0.3, -0.2)])
@pytest.mark.parametrize("begin", [(-6.0, 1.0, 0.3, 1.5), (1.0, 1.5, -0.2, 0.0)])
def test_she_comes_to_her_berth_across_a_current_or_back_from_beside_it(
    numbers: np.ndarray, drift: tuple[float, float], begin: tuple[float, float, float, float]
) -> None:
    boat = numbers.copy()
    boat[CURRENT : CURRENT + 2] = drift
    state, berthing, worst = np.array([*begin, 0.0, 0.0]), Berthing(), math.inf
    for _ in range(300):
        thrust = berthing.thrust(boat, state, LOW, HIGH, 0.1)
        assert (thrust >= LOW).all()
        assert (thrust <= HIGH).all()
        state = gone_on(boat, state, thrust, 0.1)
        c, s = math.cos(state[2]), math.sin(state[2])
        over = np.array([c * state[3] - s * state[4], s * state[3] + c * state[4]]) + drift
        off = math.hypot(*state[:2])
        worst = min(
            worst, max(off / 0.5, abs(state[2]) / math.radians(5.0), float(np.linalg.norm(over)) / 0.6)
        )
        if worst < 0.6:
            break
    assert worst < 0.6


def test_what_does_not_float_has_no_numbers() -> None:
    with pytest.raises(InputError, match="no surface to float by"):
        numbers_of(sim.vehicle("car"))


SOLIDS = np.array([(0.8, 1.9, 1.5, 0.4, 0.7, 0.0), (-1.0, 1.2, 0.0, 0.0, 0.0, 0.5)])
"""A box askew and a disc, both too near to a boat at the origin."""
HULL = hull_discs((0.15, 0.0), (1.75, 0.85))


def test_what_is_too_near_pushes_away_by_its_gradient() -> None:
    state = np.array([0.1, -0.1, 0.35, 0.0, 0.0, 0.0])
    slope, curve = np.zeros((2, 6)), np.zeros((6, 6))
    cost = nearness(SOLIDS, HULL, state, slope[0], curve)
    assert cost > 1.0
    for j in range(3):
        ends = []
        for side in (-1e-6, 1e-6):
            moved = state.copy()
            moved[j] += side
            ends.append(nearness(SOLIDS, HULL, moved, np.zeros(6), np.zeros((6, 6))))
        slope[1, j] = (ends[1] - ends[0]) / 2e-6
    np.testing.assert_allclose(slope[0], slope[1], atol=1e-5 * np.abs(slope).max())
    assert np.linalg.eigvalsh(curve).min() > -1e-9 * curve.max()
    # Whatever the frame: what is seen from a berth costs as much there.
    place, angle = np.array([3.0, -2.0]), 0.8
    c, s = math.cos(angle), math.sin(angle)
    from_there = np.array([[c, s], [-s, c]]) @ (state[:2] - place)
    there = np.array([*from_there, state[2] - angle, 0.0, 0.0, 0.0])
    again = nearness(framed(SOLIDS, place, angle), HULL, there, np.zeros(6), np.zeros((6, 6)))
    assert again == pytest.approx(cost, rel=1e-9)


def test_the_way_into_a_berth_leads_round_a_pile(numbers: np.ndarray) -> None:
    """Straight ahead it would touch the pile by 0.6 m."""
    pile = np.array([[-4.0, 0.45, 0.0, 0.0, 0.0, 0.2]])
    start = np.array([-9.0, 0.0, 0.0, 0.8, 0.0, 0.0])
    nearest = []
    for solids in (pile[:0], pile):
        state, berthing, gaps, place = start.copy(), Berthing(solids, HULL), [], math.inf
        for _ in range(250):
            thrust = berthing.thrust(numbers, state, LOW, HIGH, 0.1)
            state = gone_on(numbers, state, thrust, 0.1)
            c, s = math.cos(state[2]), math.sin(state[2])
            discs = state[:2] + HULL[:, :1] * np.array([c, s])
            gaps.append(float((np.linalg.norm(discs - pile[0, :2], axis=1) - HULL[:, 1]).min() - 0.2))
            place = min(place, float(np.linalg.norm(state[:2])) + 5.0 * abs(state[2]))
        nearest.append(min(gaps))
        assert place < 0.5
    assert nearest[0] < -0.5
    assert nearest[1] > 0.3 * MARGIN_M, nearest
