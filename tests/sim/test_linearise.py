"""Linearised vehicles: matrices against differences of the flow, eigenvalues against closed forms, refusals."""

from collections.abc import Callable
from types import SimpleNamespace

import casadi as ca
import numpy as np
import pytest
import scipy.linalg
from scipy.optimize import brentq, minimize_scalar

import sim
from sim.groups.numeric import pose_log
from sim.multibody.declaration import Joint
from sim.multibody.observing import potential_energy_J
from sim.vehicles import Vehicle
from sim.vehicles.forms.articulated import ArticulatedVehicle
from sim.vehicles.forms.form import Form
from sim.vehicles.four_bar_linkage import closed_angles, rates

END_S = 0.4


def ended(vehicle: Vehicle, state: sim.State, method: str, controls: np.ndarray) -> np.ndarray:
    run = sim.simulate(vehicle, method, step=END_S / 800, duration=END_S, initial=state, controls=controls)
    return np.asarray(run.final.node)


def apart(vehicle: Vehicle, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """(n,) of a node b seen from a near one: pose by the group's logarithm, the rest as it is."""
    at = vehicle.node_layout
    T, S = vehicle.poses(a), vehicle.poses(b)
    between = np.linalg.solve(T, S)
    if vehicle.group.turns == 1:
        way = [np.arctan2(between[1, 0], between[0, 0]), *between[:2, 2]]
    elif between.shape == (4, 4):
        way = list(pose_log(between))
    else:
        way = list(pose_log(np.block([[between, np.zeros((3, 1))], [np.zeros((1, 3)), np.ones((1, 1))]]))[:3])
    return np.r_[way, (b - a)[at.pose.stop :]]


def turning_helicopter() -> tuple[Vehicle, sim.State, np.ndarray]:
    """In a coordinated turn (vehicles paper, section 4.3.1)."""
    heli = sim.vehicle("helicopter", inertia=(0.3, 0.4, 0.4))
    turn, speed, g = 0.6, 7.0, 9.81
    roll = -np.arctan(turn * speed / g)
    c, s = np.cos(roll), np.sin(roll)
    R = np.array([[1, 0, 0], [0, c, -s], [0, s, c]])
    omega = R.T @ [0.0, 0.0, turn]
    state = heli.state(R=R, omega=omega, v=(speed, 0.0, 0.0))
    lift = heli.values["mass"] * np.hypot(g, turn * speed)
    return heli, state, np.array([lift, 0.0, 0.0, 0.0])


def spinning_top() -> tuple[Vehicle, sim.State, np.ndarray]:
    top = sim.vehicle("heavy-top")
    return top, top.state(omega=(0.0, 0.0, 30.0)), np.zeros(3)


def circling_car() -> tuple[Vehicle, sim.State, np.ndarray]:
    car = sim.vehicle("car")
    return car, car.state(theta=0.4, x=2.0, y=-1.0, shape=(0.0, 0.3), shape_velocity=(20.0, 0.0)), np.zeros(2)


def rolling_disc() -> tuple[Vehicle, sim.State, np.ndarray]:
    disc = sim.vehicle("rolling-disc")
    return disc, disc.state(shape_velocity=(0.0, 4.0)), np.zeros(2)


@pytest.mark.parametrize("moving", [turning_helicopter, spinning_top])
def test_small_errors_grow_as_the_linearised_flow_says(
    moving: Callable[[], tuple[Vehicle, sim.State, np.ndarray]],
) -> None:
    """Ends of flights that begin a little aside, against the exponential of A. Measured: 6e-8."""
    vehicle, state, controls = moving()
    found = sim.linearise(vehicle, state, controls)
    end = ended(vehicle, state, "rkmk54" if vehicle.group.turns == 3 else "rk4", controls)
    flow, eps = scipy.linalg.expm(END_S * found.A), 1e-5
    for k, z in enumerate(np.eye(len(found.A))):
        ends = [ended(vehicle, found.state_at(sign * eps * z), "rkmk54", controls) for sign in (1.0, -1.0)]
        grown = (apart(vehicle, end, ends[0]) - apart(vehicle, end, ends[1])) / (2.0 * eps)
        assert np.abs(grown - flow[:, k]).max() < 1e-6 * max(1.0, np.abs(flow).max()), k


@pytest.mark.parametrize("moving", [circling_car, rolling_disc])
def test_wheels_lean_and_circle_as_the_linearised_flow_says(
    moving: Callable[[], tuple[Vehicle, sim.State, np.ndarray]],
) -> None:
    """The same on constraints, read in the coordinates that they leave. Measured: 2e-8."""
    vehicle, state, controls = moving()
    found = sim.linearise(vehicle, state, controls)
    end = ended(vehicle, state, "rk4", controls)
    names = [c.name for c in found.coordinates]
    at, shapes = vehicle.node_layout, [c.name for c in vehicle.shape_coordinates]
    flow, eps = scipy.linalg.expm(END_S * found.A), 1e-5

    def read(node: np.ndarray) -> np.ndarray:
        d = apart(vehicle, end, node)
        by_name = dict(zip(names[: vehicle.group.dim], d, strict=False))
        for i, shape in enumerate(shapes):
            by_name[shape] = (node - end)[at.shape][i]
            by_name[f"{shape}_rate"] = (node - end)[at.shape_velocity][i]
        return np.array([by_name[name] for name in names if name in by_name])

    kept = [k for k, name in enumerate(names) if not name.startswith("momentum")]
    for k in kept:
        z = np.eye(len(names))[k]
        ends = [ended(vehicle, found.state_at(sign * eps * z), "rk4", controls) for sign in (1.0, -1.0)]
        grown = (read(ends[0]) - read(ends[1])) / (2.0 * eps)
        assert np.abs(grown - flow[kept, k]).max() < 1e-6 * max(1.0, np.abs(flow).max()), names[k]


def trailers_on_a_circle() -> tuple[Vehicle, sim.State, np.ndarray]:
    """Where both follow steadily, as Newton's method finds it."""
    car = sim.vehicle("car-with-trailers")
    turning = car.state(theta=0.4, shape=(0.0, 0.2, 0.0, 0.0, 0.0, 0.0), shape_velocity=(10.0, *5 * (0.0,)))
    found = sim.steady(car, turning)
    return car, found.state, found.controls


def boat_under_way() -> tuple[Vehicle, sim.State, np.ndarray | None]:
    boat = sim.vehicle("boat")
    return boat, boat.state(theta=0.7, v=(2.0, 0.0)), None


def as_it_stands(name: str) -> Callable[[], tuple[Vehicle, sim.State, np.ndarray | None]]:
    def moving() -> tuple[Vehicle, sim.State, np.ndarray | None]:
        vehicle = sim.vehicle(name)
        return vehicle, vehicle.default_state(), None

    moving.__name__ = name
    return moving


@pytest.mark.parametrize(
    "moving",
    [
        trailers_on_a_circle,
        boat_under_way,
        *map(as_it_stands, ("bicycle", "helicopter-with-load", "delta-robot", "scara")),
    ],
)
def test_states_that_are_named_by_small_numbers_move_on_as_these_do(
    moving: Callable[[], tuple[Vehicle, sim.State, np.ndarray | None]],
) -> None:
    """Wherever the motion has come to, its own small numbers name what the flow has made of them at the start: of
    wheels that bind each other, water, loads and loops as well. Measured: 3e-9."""
    vehicle, state, controls = moving()
    begun = sim.linearise(vehicle, state, controls)
    method = "rkmk4" if vehicle.form in (Form.EULER_POINCARE, Form.GROUP_ACTION) else "rk4"
    end = ended(vehicle, begun.state, method, begun.controls)
    later = sim.linearise(vehicle, vehicle.state_at_node(end), begun.controls)
    flow, eps = scipy.linalg.expm(END_S * begun.A), 1e-5
    for k, z in enumerate(np.eye(len(flow))):
        came, named = (
            [np.asarray(node) for node in pair]
            for pair in (
                [
                    ended(vehicle, begun.state_at(sign * eps * z), method, begun.controls)
                    for sign in (1.0, -1.0)
                ],
                [later.state_at(sign * eps * flow[:, k]).node for sign in (1.0, -1.0)],
            )
        )
        grown, said = ((pair[0] - pair[1]) / (2.0 * eps) for pair in (came, named))
        assert np.abs(grown - said).max() < 1e-7 * max(1.0, np.abs(said).max()), begun.coordinates[k]


def test_a_sleeping_top_is_stable_above_the_closed_bound() -> None:
    """omega^2 > 4 m g l I1 / I3^2; its eigenvalues are those of I1 z'' - i I3 omega z' - m g l z = 0."""
    top = sim.vehicle("heavy-top")
    across, _, along = top.values["inertia"]
    weight = top.values["mass"] * top.values["gravity"] * top.values["arm"][2]
    bound = np.sqrt(4.0 * weight * across) / along
    for factor in (0.9, 1.1):
        spin = factor * bound
        found = sim.linearise(top, top.state(omega=(0.0, 0.0, spin)))
        assert found.stable == (factor > 1.0)
        # Seen from the body, which turns with omega.
        in_space = np.roots([across, -1j * along * spin, -weight])
        seen = np.r_[in_space - 1j * spin, np.conj(in_space - 1j * spin)]
        for value in seen:
            assert np.abs(found.eigenvalues - value).min() < 1e-11 * spin, value


def test_hovering_quadrotor_falls_over_by_its_weight_and_climbs_by_its_thrust() -> None:
    """v' = g (pitch, -roll) and four rotors lift; nothing else is coupled. Twelve eigenvalues are zero."""
    found = sim.linearise(sim.vehicle("quadrotor"))
    names = [c.name for c in found.coordinates]
    A, at = found.A.copy(), names.index
    g = found.vehicle.values["gravity"]
    assert A[at("v_x"), at("pitch")] == pytest.approx(-g, rel=1e-14) or A[
        at("v_x"), at("pitch")
    ] == pytest.approx(g, rel=1e-14)
    assert A[at("v_y"), at("roll")] == pytest.approx(-A[at("v_x"), at("pitch")], rel=1e-14)
    A[at("v_x"), at("pitch")] = A[at("v_y"), at("roll")] = 0.0
    A[:6, 6:] -= np.eye(6)
    assert np.abs(A).max() < 1e-13
    assert found.B[at("v_z")] == pytest.approx(1.0 / found.vehicle.values["mass"], rel=1e-14)
    assert found.controls.sum() == pytest.approx(found.vehicle.values["mass"] * g, rel=1e-13)


def test_a_hanging_pendulum_has_the_frequencies_of_its_chain() -> None:
    """Two links of equal masses and lengths: g/l (2 +- sqrt 2), in both planes."""
    pendulum = sim.vehicle("pendulum", links=2, length=1.3, mass=0.7)
    state = pendulum.point(direction_1=(0.0, 0.0, -1.0), direction_2=(0.0, 0.0, -1.0))  # type: ignore[attr-defined]
    found = sim.linearise(pendulum, state)
    squares = np.sort(found.eigenvalues.imag[found.eigenvalues.imag > 0.0] ** 2)
    wanted = 9.81 / 1.3 * np.array([2.0 - np.sqrt(2.0)] * 2 + [2.0 + np.sqrt(2.0)] * 2)
    assert len(found.eigenvalues) == 8
    assert np.abs(squares - wanted).max() < 1e-10
    assert np.abs(found.eigenvalues.real).max() < 1e-10


def test_a_four_bar_at_rest_swings_as_its_energy_is_curved() -> None:
    """The closed loop's one mode: curvature of the height over the inertia, both along the loop's own motion."""
    linkage = sim.vehicle("four-bar-linkage")

    def height_J(crank: float) -> float:
        return potential_energy_J(linkage.tree, closed_angles(crank), linkage.tree.arrays)

    low = minimize_scalar(height_J, (-2.4, -1.6, -0.8), tol=1e-15).x
    low = brentq(lambda c: height_J(c + 1e-5) - height_J(c - 1e-5), low - 0.1, low + 0.1, xtol=1e-15)
    found = sim.linearise(linkage, linkage.state(closed_angles(low), np.zeros(3)))
    assert [c.unit for c in found.coordinates] == ["rad", "rad/s"]
    v = np.r_[1.0, rates(closed_angles(low), 1.0)]
    inertia = float(
        v @ np.array(ca.DM(linkage.symbolic.momenta(ca.SX(closed_angles(low)), ca.SX(v)))).ravel()
    )
    curvature = (height_J(low + 1e-3) - 2.0 * height_J(low) + height_J(low - 1e-3)) / 1e-6
    (mode,) = found.modes
    assert 2.0 * np.pi * mode.frequency_hz == pytest.approx(np.sqrt(curvature / inertia), rel=1e-5)
    assert abs(mode.eigenvalue.real) < 1e-10
    with pytest.raises(sim.InputError, match="not steady"):
        sim.linearise(linkage, linkage.state(closed_angles(low + 0.3), np.zeros(3)), [0.0])


class BallTop(ArticulatedVehicle):
    """The heavy top as a tree: one body on a ball joint."""

    name = "ball-top"
    torques = ()

    def declare(self, q: SimpleNamespace) -> sim.Tree:
        mass, arm = 24.0, 0.25
        body = sim.Body(
            "top",
            joint=Joint("ball"),
            mass=mass,
            centre=(0.0, 0.0, arm),
            inertia=(2.1 - mass * arm**2,) * 2 + (1.1,),
        )
        return sim.tree([body])


def test_a_top_as_a_tree_has_the_modes_of_the_top() -> None:
    """Two declarations and two sets of equations, one body: asleep, seen from the frame that turns with it."""
    top, tree = sim.vehicle("heavy-top"), BallTop()
    for spin in (12.0, 30.0):
        one = sim.linearise(top, top.state(omega=(0.0, 0.0, spin)))
        other = sim.linearise(tree, tree.state(v={"top wz": spin}))
        assert np.abs(np.sort_complex(one.A.ravel()) - np.sort_complex(other.A.ravel())).max() < 1e-9
        assert np.abs(one.eigenvalues - other.eigenvalues).max() < 1e-6


class Satellite(ArticulatedVehicle):
    """A free body that carries an arm on a hinge with a spring."""

    name = "armed-satellite"

    def declare(self, q: SimpleNamespace) -> sim.Tree:
        hull = sim.Body("hull", joint=Joint("free"), mass=3.0, inertia=(0.4, 0.5, 0.6))
        hinge = Joint(axis=(1.0, 0.0, 0.0), stiffness=2.0, damping=0.1)
        arm = sim.Body("arm", "hull", hinge, position=(0.0, 0.0, 0.3), mass=0.5, centre=(0.0, 0.0, 0.4))
        return sim.tree([hull, arm], (0.0, 0.0, 0.0))


def test_a_turning_tree_drifts_as_the_linearised_flow_says() -> None:
    """A free tree that turns about its own axis and drifts, against differences of the flow. Measured: 1e-6."""
    satellite = Satellite()
    state = satellite.state(v={"hull wz": 0.7, "hull vz": 0.4})
    found = sim.linearise(satellite, state)
    at, flow, eps = satellite.node_layout, scipy.linalg.expm(END_S * found.A), 1e-4
    end = ended(satellite, state, "rk4", np.zeros(0))
    for k, z in enumerate(np.eye(len(found.A))):
        one, other = (
            ended(satellite, found.state_at(sign * eps * z), "rk4", np.zeros(0)) for sign in (1.0, -1.0)
        )
        hinges = (one - other)[7:] / (2.0 * eps)
        assert np.abs(hinges - flow[6:, k]).max() < 1e-5 * max(1.0, np.abs(flow).max()), found.coordinates[k]
    assert at.size == len(end)


def test_a_name_stands_for_its_vehicle() -> None:
    np.testing.assert_array_equal(sim.linearise("quadrotor").A, sim.linearise(sim.vehicle("quadrotor")).A)


def test_what_is_not_steady_is_refused_in_one_line() -> None:
    top, heli = sim.vehicle("heavy-top"), sim.vehicle("helicopter")
    with pytest.raises(sim.InputError, match=r"heavy-top.*not steady: omega_y changes by .* rad/s/s"):
        sim.linearise(top)
    with pytest.raises(sim.InputError, match="state of another vehicle does not fit vehicle 'heavy-top'"):
        sim.linearise(top, heli.default_state())
    with pytest.raises(sim.InputError, match="controls"):
        sim.linearise(heli, controls=[1.0])
    with pytest.raises(sim.InputError, match="vehicle = 3 is none"):
        sim.linearise(3)  # type: ignore[arg-type]
    with pytest.raises(sim.InputError, match="unknown vehicle"):
        sim.linearise("nothing")
    rolling = sim.vehicle("snakeboard")
    turning = rolling.state(shape=(0.0, 0.4), shape_velocity=(0.0, 0.3), momentum=(5.0,))
    with pytest.raises(sim.InputError, match="steady"):
        sim.linearise(rolling, turning)


def test_a_mode_moves_as_the_vehicle_does() -> None:
    """A mode's state a while later is where the vehicle is then. Measured: 3e-9 of an amplitude of 1e-4."""
    disc, state, controls = rolling_disc()
    found = sim.linearise(disc, state, controls)
    mode = next(m for m in found.modes if m.oscillates)
    assert mode.frequency_hz > 0.0
    assert mode.damping_ratio == pytest.approx(0.0, abs=1e-9)
    begun, end = found.state_of_mode(mode, 1e-4), found.state_of_mode(mode, 1e-4, END_S)
    run = ended(disc, begun, "rk4", controls)
    lean = disc.node_layout.shape.start
    assert run[lean] == pytest.approx(end.node[lean], abs=1e-7)


def test_a_bicycle_runs_upright_between_the_published_speeds() -> None:
    """Meijaard et al. 2007, section 5, out of a locus whose values are 0.35 m/s apart. Measured: 2e-7 m/s."""
    found = sim.root_locus("bicycle", "speed", np.linspace(0.7, 8.0, 21))
    assert found.refused == ""
    assert len(found.stable_spans) == 1
    assert np.abs(np.array(found.stable_spans[0]) - (4.29238253634111, 6.02426201538837)).max() < 2e-6
    moved = np.abs(np.diff(found.eigenvalues, axis=0)).max(axis=0)
    assert (moved < 2.0).all()  # no branch jumps to another one


@pytest.mark.parametrize("speed_mps", [0.5, 2.0, 3.5, 5.0, 9.0])
def test_modes_are_eigenvectors_wherever_a_steady_motion_was_searched(speed_mps: float) -> None:
    """Rates that vanish are 1e-16 there and less (measured 7e-15; 2.6 where those were taken for numbers)."""
    bicycle = sim.vehicle("bicycle")
    found = sim.root_locus(bicycle, "speed", [speed_mps], bicycle.riding(5.0)).found[0]
    assert found is not None
    for mode in found.modes:
        residual = found.A @ mode.shape - mode.eigenvalue * mode.shape
        assert np.abs(residual).max() < 1e-11 * np.abs(found.A).max()


def test_a_disc_and_a_top_change_where_closed_forms_say() -> None:
    """The critical speed of a rolling disc (Neimark and Fufaev), and the heaviest top that sleeps (Lagrange); where
    nothing decays. Measured: 4e-11, 3e-9."""
    disc = sim.vehicle("rolling-disc")
    ((low, high),) = sim.root_locus(disc, "speed", np.linspace(0.4, 5.0, 24)).stable_spans
    mass, radius, axial, across, gravity = (
        float(disc.values[name])
        for name in ("mass", "radius", "axial_inertia", "diametral_inertia", "gravity")
    )
    of_road = mass * radius**2
    assert low == pytest.approx(
        radius * np.sqrt(gravity * across * of_road / radius / (axial * (axial + of_road))), abs=1e-6
    )
    assert high == 5.0
    top = sim.vehicle("heavy-top")
    across, _, along = top.values["inertia"]
    lever = top.values["gravity"] * top.values["arm"][2]
    heaviest = (along * 30.0) ** 2 / (4.0 * across * lever)
    asleep = top.state(omega=(0.0, 0.0, 30.0))
    ((_, end),) = sim.root_locus(
        top, "mass", np.linspace(0.2, 2.0, 12) * heaviest, asleep, np.zeros(3)
    ).stable_spans
    assert end == pytest.approx(heaviest, rel=1e-6)


def test_the_steady_motion_next_to_a_disturbed_one_is_found_at_any_speed() -> None:
    """Random helicopters, thrown aside: what is found is steady by the flow itself. Measured: 4e-9."""
    rng = np.random.default_rng(29)
    for _ in range(4):
        heli = sim.vehicle("helicopter", mass=rng.uniform(2.0, 9.0), drag=rng.uniform(0.05, 0.3))
        turned = np.linalg.qr(np.eye(3) + 0.1 * rng.normal(size=(3, 3)))[0]
        turned = turned * np.sign(np.diag(turned))
        state = heli.state(
            R=turned, omega=0.2 * rng.normal(size=3), v=np.add((4.0, 0.0, 0.0), rng.normal(size=3))
        )
        found = sim.steady(heli, state, speed_mps=6.0)
        assert np.linalg.norm(found.state.v) >= 6.0 - 1e-6
        run = sim.simulate(
            heli, "rkmk54", step=2e-3, duration=0.5, initial=found.state, controls=found.controls
        )
        assert np.abs(run.velocity[-1] - run.velocity[0]).max() < 1e-6


@pytest.mark.parametrize("rate_radps", [9.0, 1.0, 0.3])
def test_a_linkage_that_turns_is_found_a_pose_where_it_rests(rate_radps: float) -> None:
    """Its loop closed, by the work of its weights: torque = d(m g z)/d(crank). Measured: 1.3e-10 m, 4e-10."""
    linkage = sim.vehicle("four-bar-linkage", crank=0.5, coupler_mass=3.0)
    begun = closed_angles(1.3)
    found = sim.steady(linkage, linkage.state(begun, np.array([rate_radps, *rates(begun, rate_radps)])))
    assert closed_angles(found.state.node[0]) == pytest.approx(found.state.node[:3], abs=1e-8)

    def weighed(crank_rad: float) -> float:
        a, at, height = np.cumsum(closed_angles(crank_rad)), 0.0, 0.0
        for along, turned, name in zip((1.0, 2.75, 2.0), a, ("crank", "coupler", "rocker"), strict=True):
            rise = 0.5 * along * np.sin(turned)
            height += float(linkage.values[f"{name}_mass"]) * 9.81 * (at + 0.5 * rise)
            at += rise
        return height

    angle = float(found.state.node[0])
    by_work = (weighed(angle + 1e-5) - weighed(angle - 1e-5)) / 2e-5
    assert found.controls == pytest.approx([by_work], rel=1e-7)


@pytest.mark.parametrize(
    "name, over, said",
    [
        ("bicycle", "wheels", "over 'wheels' is refused; allowed: speed, "),
        ("chain", "links", "over 'links' is refused; allowed: "),
        ("motorboat", "speed", "is refused: water, which carries it, is not in its equations; allowed: "),
    ],
)
def test_a_locus_over_what_cannot_vary_is_refused_in_a_line(name: str, over: str, said: str) -> None:
    with pytest.raises(sim.InputError, match=said):
        sim.root_locus(name, over, [0.5, 1.0])
