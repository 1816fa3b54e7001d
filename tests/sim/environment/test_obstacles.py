"""Laws of collisions on the ground: constraints hold through an impulse, energy never grows, momentum is handed over,
nothing is leapt over, what passes beside is not touched, and a take of it replays to the bit."""

import math
from concurrent.futures import Future
from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from scipy.spatial import ConvexHull, cKDTree

from render.land.ground_cover import boulder_meshes
from sim.commands import KeepTake, PilotInput, Reset, Retake, Scrub, SetPilotInput, SetVehicle
from sim.contact.obstacles import Obstacles, Solids
from sim.contact.obstacles.cones import MASS_KG
from sim.contact.obstacles.impacts import MOST_ROWS, contacts_at, first_impact
from sim.environment.environment import BodyState
from sim.recordings.playback import Playback
from sim.scene import Scene, Start, load_scene
from sim.simulation import Simulation
from sim.simulation.lanes.impulses import twist_by_main
from sim.simulation.lanes.snapshot import LaneStatus, Snapshot
from sim.vehicle_config import config_named
from sim.vehicle_config.config import Footprint
from sim.vehicles import NonholonomicVehicle, Vehicle, known_vehicle, vehicle
from sim.world.boulders import VARIANTS, boulder_discs, widest
from tests.sim.simulation_scenes import world

FOOTPRINT = Footprint((0.4, -0.1), (1.3, 0.6))
BOX = np.array([3.0, 0.5, 0.8, 0.4, 0.6])
DISC = np.array([3.0, 0.5, 0.5, 0.0, math.nan])


def put_at(x: float, y: float, theta: float) -> np.ndarray:
    T_wb = np.eye(4)
    T_wb[:2, :2] = [[math.cos(theta), -math.sin(theta)], [math.sin(theta), math.cos(theta)]]
    T_wb[:2, 3] = x, y
    return T_wb


def outline(centre: np.ndarray, half: np.ndarray, theta: float) -> np.ndarray:
    """(n, 2) many points of a rectangle, edges and inside."""
    u, v = np.meshgrid(np.linspace(-1.0, 1.0, 121), np.linspace(-1.0, 1.0, 121))
    local = np.stack([half[0] * u.ravel(), half[1] * v.ravel()], axis=1)
    c, s = math.cos(theta), math.sin(theta)
    return local @ np.array([[c, s], [-s, c]]) + centre


@pytest.mark.parametrize("solid", [BOX, DISC], ids=["box", "disc"])
def test_the_distance_is_that_of_the_outlines_by_brute_force(solid: np.ndarray) -> None:
    rng = np.random.default_rng(5)
    for _ in range(12):
        x, y, theta = rng.uniform(-1.5, 1.5), rng.uniform(-1.5, 2.5), rng.uniform(-3.0, 3.0)
        least, used = contacts_at(x, y, theta, FOOTPRINT.array, solid, np.zeros((MOST_ROWS, 5)))
        centre = put_at(x, y, theta)[:2, :2] @ FOOTPRINT.array[:2] + (x, y)
        own = outline(centre, FOOTPRINT.array[2:], theta)
        if math.isnan(solid[4]):
            brute = np.linalg.norm(own - solid[:2], axis=1).min() - solid[2]
        else:
            other = outline(solid[:2], solid[2:4], solid[4])
            brute = cKDTree(other).query(own)[0].min()
        assert used > 0
        if brute > 0.03:
            assert least == pytest.approx(brute, abs=0.012)  # spacing of the brute force


def moved(pose: np.ndarray, twist: np.ndarray, t: float) -> tuple[float, float, float]:
    """Planar pose (x, y, theta) after a time under a constant body twist."""
    angle = twist[0] * t
    a, b = (math.sin(angle) / twist[0], (1.0 - math.cos(angle)) / twist[0]) if angle else (t, 0.0)
    way = put_at(0.0, 0.0, pose[2])[:2, :2] @ [a * twist[1] - b * twist[2], b * twist[1] + a * twist[2]]
    return pose[0] + way[0], pose[1] + way[1], pose[2] + angle


def least_at(T_wb: np.ndarray, xi: np.ndarray, t: float) -> float:
    """How far from the box a pose is after a time under a twist (6,); negative within."""
    pose = np.array([*T_wb[:2, 3], math.atan2(T_wb[1, 0], T_wb[0, 0])])
    return contacts_at(*moved(pose, xi[2:5], t), FOOTPRINT.array, BOX, np.zeros((MOST_ROWS, 5)))[0]


@pytest.mark.parametrize("solid", [BOX, DISC], ids=["box", "disc"])
def test_a_sweep_touches_when_dense_samples_of_it_do_and_passes_by_when_they_do_not(
    solid: np.ndarray,
) -> None:
    rng = np.random.default_rng(7)
    rows, met = np.zeros((MOST_ROWS, 5)), 0
    for _ in range(60):
        pose = np.array([rng.uniform(-3.0, -1.0), rng.uniform(-3.0, 4.0), rng.uniform(-1.0, 1.0)])
        twist = np.array([rng.uniform(-2.0, 2.0), rng.uniform(-2.0, 9.0), rng.uniform(-1.0, 1.0)])
        share, _ = first_impact(pose, twist, 1.0, FOOTPRINT.array, solid, np.zeros(2), rows)
        distances = [
            contacts_at(*moved(pose, twist, t), FOOTPRINT.array, solid, rows)[0]
            for t in np.linspace(0.0, 1.0, 801)
        ]
        hits = np.flatnonzero(np.array(distances) <= 0.0)
        if hits.size:
            assert share <= hits[0] / 800.0 + 1e-9
            assert distances[max(int(share * 800.0) - 1, 0)] > -0.02
            met += 1
        elif min(distances) > 0.01:
            assert share > 1.0
    assert met > 5


def mobility_of(rng: np.random.Generator, rank: int) -> np.ndarray:
    """(6, 6) of what moves in the plane in `rank` ways."""
    basis = rng.normal(size=(3, rank))
    A = np.zeros((6, 6))
    A[2:5, 2:5] = basis @ basis.T / 50.0
    return A


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_an_impulse_does_no_positive_work_keeps_to_the_allowed_motions_and_stops_every_approach(
    rank: int,
) -> None:
    rng = np.random.default_rng(rank)
    terrain = world("plain").terrain
    met = 0
    for _ in range(400):
        A = mobility_of(rng, rank)
        twist_b = A @ rng.normal(size=6) * 120.0
        T_wb = put_at(rng.uniform(0.0, 1.6), rng.uniform(-1.0, 2.0), rng.uniform(-1.0, 1.0))
        if least_at(T_wb, twist_b, 0.0) < 0.0 or np.linalg.norm(twist_b[3:5]) > 12.0:
            continue
        obstacles = Obstacles(Solids(np.array([[*BOX, 0.0]])), terrain)
        obstacles.footprint = FOOTPRINT
        body = BodyState(T_wb, twist_b, np.linalg.pinv(A, hermitian=True))
        given = obstacles.exchange(0.0, 0.05, {"body": body})
        if not given:
            continue
        met += 1
        P = given["body"]
        change = A @ P
        work = float(P @ twist_b + 0.5 * P @ change)
        energy = 0.5 * float(twist_b @ body.inertia_b @ twist_b)
        assert work <= 1e-9 * energy  # measured 3e-16 at most
        off = change - A @ np.linalg.lstsq(A, change, rcond=None)[0]
        assert np.abs(off).max() < 1e-9 * max(1.0, np.abs(change).max())
        after = twist_b + change
        deepest = [least_at(T_wb, xi, 0.05) for xi in (twist_b, after)]
        assert deepest[1] > min(-0.03, 0.2 * deepest[0])  # it may turn a little about what it touches
    assert met > 10


def rolling(name: str) -> tuple[Vehicle, np.ndarray]:
    """A state in which everything moves, within what the wheels allow."""
    it = vehicle(name)
    if name == "car":
        state = it.state(theta=0.4, x=1.0, y=-2.0, shape=(0.3, 0.35), shape_velocity=(21.0, 0.8))
    else:
        state = it.state(theta=-0.7, shape=(0.5, 0.6), shape_velocity=(1.5, -0.9), momentum=(4.0,))
    return it, state.node


def struck(it: Vehicle, node: np.ndarray, impulse: np.ndarray) -> np.ndarray:
    q = it.symbols(ca.SX(it.parameter_vector))
    return np.array(ca.evalf(ca.densify(it.struck(ca.SX(node), ca.SX(impulse), q)))).ravel()


@pytest.mark.parametrize("name", ["car", "snakeboard"])
def test_an_impulse_on_what_rolls_is_that_of_the_equations_with_multipliers(name: str) -> None:
    it, node = rolling(name)
    assert isinstance(it, NonholonomicVehicle)
    q = it.symbols(ca.SX(it.parameter_vector))
    at, n = it.node_layout, len(it.shape_coordinates)
    impulse = np.array([310.0, -140.0, 95.0, 23.0, -41.0])  # on the body, then on the shape
    after = struck(it, node, impulse)
    # Independent: all coordinates, their mass matrix, the constraints with multipliers, commanded rates held.
    v = ca.SX.sym("v", n + 3)
    r = ca.SX(node[at.shape])
    M = np.array(ca.evalf(ca.hessian(it.lagrangian(r, v[:n], v[n:], q), v)[0]))
    W = np.array(ca.evalf(ca.densify(it.constraints(r, q))))
    held = np.array([[float(i == j) for j in range(n + 3)] for i in range(n) if i not in it.dynamic]).reshape(
        -1, n + 3
    )
    C = np.vstack([W, held])
    known = np.concatenate([impulse[3:], impulse[:3], np.zeros(len(C))])
    solution = np.linalg.lstsq(np.block([[M, C.T], [C, np.zeros((len(C), len(C)))]]), known, rcond=None)[0]
    assert after[at.shape_velocity] - node[at.shape_velocity] == pytest.approx(solution[:n], abs=1e-9)
    assert after[at.velocity] - node[at.velocity] == pytest.approx(
        solution[n : n + 3], abs=1e-9
    )  # measured 4e-14
    slip = np.array(ca.evalf(ca.densify(it.constraint_residual(ca.SX(after), q))))
    assert np.abs(slip).max() < 1e-12  # measured 1e-15
    assert after[at.pose] == pytest.approx(node[at.pose], abs=0.0)


def driven(start: Start, **changes) -> Scene:
    return replace(load_scene("drive"), start=start, goals=(), **changes)


AT_THE_WALL = driven(Start(position_w=(-4.3, -17.0, 0.0), heading_rad=1.35))
"""The barrier begins at y = -11.18."""


def ridden(
    simulation: Simulation, seconds: float, *, pedal: float = 1.0, wheel: float = 0.0
) -> list[Snapshot]:
    simulation.submit(SetPilotInput(PilotInput(pitch=pedal, roll=wheel)))
    return [simulation.advance(0.02) for _ in range(round(seconds / 0.02))]


def test_a_car_stops_at_a_wall_without_slipping_and_stays_out_of_it() -> None:
    simulation = Simulation(AT_THE_WALL, world("driving"))
    seen = ridden(simulation, 3.0, pedal=0.35)
    lane = seen[-1].lanes[0]
    assert lane.status is LaneStatus.RUNNING
    assert abs(lane.twist_b[3]) < 0.15  # it pushes on
    assert max(s.lanes[0].twist_b[3] for s in seen) > 1.5
    corners = lane.T_wb[:2, :2] @ np.array([[2.95, 2.95], [0.8, -0.8]]) + lane.T_wb[:2, 3:4]
    assert (
        -11.18 - 0.05 < corners[1].max() < -11.18 + 0.05
    )  # measured 0.012 m within, pushing with 0.35 of its pedal
    assert max(s.lanes[0].scalar("slip") for s in seen if math.isfinite(s.lanes[0].scalar("slip"))) < 1e-9
    back = ridden(simulation, 2.0, pedal=-1.0)
    assert back[-1].lanes[0].twist_b[3] < -2.0  # and it can drive away


TOWING = Scene(
    "towing",
    "Towing",
    vehicle=vehicle("car-with-trailers"),
    integrator="variational",
    step_s=0.01,
    flight_mode="drive",
    world="driving",
    start=Start(position_w=(-4.3, -19.5, 0.0), heading_rad=-0.5 * math.pi),
)
"""Its last trailer's back is 2 m before the barrier behind it."""


def test_trailers_that_are_backed_against_a_wall_stay_out_of_it_and_stop_the_car() -> None:
    """Corners of both trailers, seen from above. Measured: 0.005 m within, 5.8 m where nothing
    meets them."""
    simulation = Simulation(TOWING, world("driving"))
    seen = ridden(simulation, 5.0, pedal=-0.35)
    lanes = [s.lanes[0] for s in seen]
    assert min(lane.twist_b[3] for lane in lanes) < -0.4
    deepest = max(
        float((lane.bodies[name][:2, :2] @ corners_of(own) + lane.bodies[name][:2, 3:4])[1].max())
        for lane in lanes
        for name, own in config_named("car-with-trailers").footprint.towed
    )
    assert -11.18 - 0.05 < deepest < -11.18 + 0.05
    assert np.abs([lane.twist_b[3] for lane in lanes[-20:]]).max() < 0.15
    slips = [lane.scalar("slip") for lane in lanes]
    assert max(slip for slip in slips if math.isfinite(slip)) < 1e-9
    away = ridden(simulation, 2.0, pedal=1.0)
    assert away[-1].lanes[0].twist_b[3] > 1.0


def corners_of(own: Footprint) -> np.ndarray:
    """(2, 4) in the body's frame."""
    x, y, length, width = own.array
    return np.array([[x - length, x - length, x + length, x + length], [y - width, y + width] * 2])


def test_what_a_trailer_does_follows_from_what_the_car_does() -> None:
    """A trailer's twist, by what pushes at it say of the car, against differences of where it is. Measured: 2e-9."""
    it, dt_s = vehicle("car-with-trailers"), 1e-4
    running = Simulation(replace(TOWING, world="plain", integrator="rk4", step_s=dt_s), world("plain"))
    for wheel in (0.4, -0.7):
        ridden(running, 1.0, pedal=0.6, wheel=wheel)
        one, other = (running.advance(dt_s).lanes[0] for _ in range(2))
        assert abs(one.twist_b[2]) > 0.01
        for name, _ in config_named(it.name).footprint.towed:
            moved = np.linalg.solve(one.bodies[name], other.bodies[name])
            rate = np.array([moved[1, 0], moved[0, 3], moved[1, 3]]) / (
                other.time_current_s - one.time_current_s
            )
            by_twist = twist_by_main(it, one.node, name, one.bodies[name][:3, :3])
            assert (by_twist @ one.twist_b)[2:5] == pytest.approx(rate, abs=2e-3)


def test_a_wall_that_is_met_too_fast_ends_the_ride_and_says_how_fast_and_a_reset_begins_anew() -> None:
    begin = replace(AT_THE_WALL.start, position_w=(-4.3, -27.0, 0.0), heading_rad=0.5 * math.pi)
    simulation = Simulation(driven(begin), world("driving"))
    seen = ridden(simulation, 4.0)
    lane = seen[-1].lanes[0]
    assert lane.status is LaneStatus.CRASHED
    fastest = max(s.lanes[0].twist_b[3] for s in seen)
    assert lane.status_text.startswith("crashed at")
    assert float(lane.status_text.split()[2]) == pytest.approx(fastest, abs=0.5)
    simulation.submit(Reset())
    assert simulation.advance(0.1).lanes[0].status is LaneStatus.RUNNING


AT_A_CONE = driven(Start(position_w=(-18.0, -30.35, 0.0)))


def cone_ahead() -> Start:
    """Four metres before the cone that is nearest to the start line, to its left."""
    x, y = min(world("driving").grounds.cones.tolist(), key=lambda c: math.hypot(c[0] + 28.0, c[1] + 30.0))
    return Start(position_w=(x - 7.0, y + 0.3, 0.0))


def test_a_cone_flies_off_with_the_momentum_that_the_car_gives_and_comes_to_lie() -> None:
    simulation = Simulation(driven(cone_ahead()), world("driving"))
    seen = ridden(simulation, 2.5)
    hit = next(k for k, s in enumerate(seen) if s.environment.moved.any())
    assert seen[hit].environment.moved.sum() == 1
    flying = [s.environment.poses[s.environment.moved][0] for s in seen[hit:]]
    assert max(T[2, 3] for T in flying) > 0.35  # off the ground: it stood at 0.22
    assert flying[-1][0, 3] > flying[0][0, 3] + 1.0
    assert seen[-1].lanes[0].status is LaneStatus.RUNNING
    later = ridden(simulation, 8.0, pedal=0.0)
    lies = [s.environment.poses[hit_one(later[-1])] for s in later[-20:]]
    assert np.ptp([T[:3, 3] for T in lies], axis=0).max() < 0.02
    assert lies[-1][2, 3] < 0.3


def hit_one(snapshot: Snapshot) -> int:
    return int(np.flatnonzero(snapshot.environment.moved)[0])


def test_a_cone_takes_exactly_what_the_vehicle_loses() -> None:
    terrain = world("driving").terrain
    obstacles = Obstacles(Solids(np.zeros((0, 6)), np.array([[3.0, 0.2]])), terrain)
    obstacles.footprint = FOOTPRINT
    A = np.zeros((6, 6))
    A[2:5, 2:5] = np.diag([1.0 / 300.0, 1.0 / 90.0, 1.0 / 90.0])
    twist_b = np.array([0.0, 0.0, 0.4, 9.0, 0.5, 0.0])
    T_wb = put_at(1.0, 0.0, 0.1)
    before = obstacles.cones.state.copy()
    given = obstacles._met(BodyState(T_wb, twist_b, np.linalg.pinv(A, hermitian=True)), 0.05, FOOTPRINT)
    assert given is not None
    k = 0
    R = obstacles.cones.state[k, 1:10].reshape(3, 3, order="F")
    gained_w = MASS_KG * (R @ obstacles.cones.state[k, 16:19] - R @ before[k, 16:19])
    lost_w = T_wb[:3, :3] @ given[3:]
    assert gained_w[:2] == pytest.approx(-lost_w[:2], abs=1e-9)  # measured 3e-15
    assert gained_w[2] > 0.0  # thrown up: the ground bears that of the vehicle


def test_what_passes_beside_cones_is_not_touched_to_the_bit() -> None:
    scene = load_scene("drive")
    alone = Simulation(scene, replace_grounds())
    among = Simulation(scene, world("driving"))
    a, b = ridden(alone, 1.5)[-1].lanes[0], ridden(among, 1.5)[-1].lanes[0]
    assert np.array_equal(a.T_wb, b.T_wb)
    assert a.energy_J == b.energy_J


def replace_grounds():
    """The driving ground without anything on it."""
    ground = world("driving")
    bare = replace(ground.grounds, cones=np.zeros((0, 2)), blocks=(), tunnels=(), parked=())
    return replace(ground, grounds=bare)


def test_a_ride_into_cones_and_a_wall_replays_to_the_bit_and_a_retake_meets_the_same_again() -> None:
    simulation = Simulation(driven(cone_ahead()), world("driving"))
    seen = ridden(simulation, 3.0, wheel=0.05)
    moved = seen[-1].environment
    reply: Future = Future()
    simulation.submit(KeepTake(reply))
    simulation.advance(0.0)
    take = reply.result(timeout=10)
    segment = take.segments[0]
    assert segment.impulse_log is not None
    assert len(segment.impulse_log.steps) > 0
    playback = Playback(take.segments, lambda: world("driving"))
    end = playback.node(playback.moment(segment, segment.steps))
    assert np.array_equal(end, simulation.run.flown.node)
    simulation.submit(Scrub(1.0))
    simulation.submit(Retake(paused=False))
    again = ridden(simulation, 2.0, wheel=0.05)
    assert np.array_equal(again[-1].environment.poses, moved.poses)
    assert np.array_equal(again[-1].lanes[0].T_wb, seen[-1].lanes[0].T_wb)


def test_the_state_of_what_flies_is_all_in_its_checkpoint() -> None:
    ground = world("driving")
    first = Obstacles(Solids(np.zeros((0, 6)), ground.grounds.cones[:4]), ground.terrain)
    first.cones.hit(2, first.cones.places_w[2] + [0.0, 0.1, 0.06], np.array([14.0, 3.0, 5.0]))
    for k in range(20):
        first.exchange(0.02 * k, 0.02, {})
    kept = first.checkpoint()
    second = Obstacles(Solids(np.zeros((0, 6)), ground.grounds.cones[:4]), ground.terrain)
    second.restore(kept)
    for each in (first, second):
        for k in range(20, 60):
            each.exchange(0.02 * k, 0.02, {})
    assert np.array_equal(first.checkpoint(), second.checkpoint())


def way_is_free(disc: np.ndarray, discs: np.ndarray) -> bool:
    """For a car that comes along x to a boulder from 9 m before it."""
    others = discs[np.any(discs != disc, axis=1)]
    off = others[:, :2] - disc[:2]
    beside = np.hypot(off[:, 0] - np.clip(off[:, 0], -9.5, 0.0), off[:, 1])
    return bool((beside > others[:, 2] + 1.2).all())


def test_a_car_stops_at_a_boulder_of_the_desert_and_stays_out_of_it() -> None:
    ground, footprint = world("driving"), config_named("car").footprint
    assert footprint is not None
    discs = boulder_discs(ground, higher_than_m=0.35)
    near = discs[np.hypot(discs[:, 0], discs[:, 1]) < 130.0]
    disc = max((d for d in near if way_is_free(d, near)), key=lambda d: float(d[2]))
    simulation = Simulation(driven(Start(position_w=(disc[0] - 8.0, disc[1] + 0.3, 0.0))), ground)
    seen = ridden(simulation, 6.0, pedal=0.6)
    lane = seen[-1].lanes[0]
    assert lane.status is LaneStatus.RUNNING, lane.status_text
    assert max(float(one.lanes[0].twist_b[3]) for one in seen) > 1.5
    assert abs(lane.twist_b[3]) < 0.5
    pose = (*lane.T_wb[:2, 3].tolist(), math.atan2(lane.T_wb[1, 0], lane.T_wb[0, 0]))
    solid, rows = np.array([*disc[:3], 0.0, math.nan]), np.zeros((MOST_ROWS, 5))
    assert -0.03 < contacts_at(*pose, footprint.array, solid, rows)[0] < 0.1


def test_what_takes_the_place_of_what_flies_meets_the_boulders_of_the_canyon() -> None:
    canyon, footprint = world("canyon"), config_named("car").footprint
    assert footprint is not None
    simulation = Simulation(
        Scene("swapped", "Swapped", vehicle=known_vehicle("helicopter"), world="canyon"), canyon
    )
    simulation.submit(SetVehicle("car"))
    simulation.advance(0.05)
    coupling = simulation.run.flown.coupling
    assert coupling is not None
    disc = max(boulder_discs(canyon, higher_than_m=0.35), key=lambda d: float(d[2]))
    rear = disc[0] - disc[2] - footprint.array[0] - footprint.array[2] - 0.02
    body = BodyState(put_at(rear, disc[1], 0.0), np.array([0.0, 0.0, 0.0, 4.0, 0.0, 0.0]), np.diag([1e3] * 6))
    impulse = coupling.environment.exchange(simulation.snapshot.clock_s, 0.02, {"chassis": body})["chassis"]
    assert impulse[3] < 0.0  # it is held up


@pytest.mark.parametrize("variant", range(VARIANTS))
def test_the_disc_of_a_boulder_is_as_large_as_what_is_drawn_of_it(variant: int) -> None:
    mesh = boulder_meshes(detail=2)[variant]
    hull = ConvexHull(mesh.vertices[:, :2].astype(float))
    x, y, radius, top = widest(variant)
    assert math.pi * radius**2 == pytest.approx(hull.volume, rel=1e-3)
    assert top == pytest.approx(float(mesh.vertices[:, 2].max()), rel=1e-6)
    off = np.linalg.norm(mesh.vertices[:, :2][hull.vertices] - (x, y), axis=1) / radius
    assert off.min() > 0.75  # 0.80 measured
    assert off.max() < 1.4  # 1.33 measured
