"""Cones: they stand until something hits them, then fly, tumble and come to lie as free bodies under gravity.

What stands in the way in a world, seen from above: boxes and discs that stay, and cones that do not."""

from dataclasses import field
from functools import cache

import casadi as ca
import numpy as np

from sim.compiler.kernel import compile_kernel
from sim.compiler.stepper import Stepper
from sim.contact.ground import GROUND, GroundArrays
from sim.groups import SE3
from sim.integrators import default_for, integrator
from sim.platform.values import dataclass
from sim.shapes import footprints
from sim.vehicles import HolonomicVehicle
from sim.vehicles.forms.parameters import Quantities
from sim.world import World
from sim.world.boulders import LOW_M, boulder_discs
from sim.world.props import CONE_HEIGHT_M, CONE_RADIUS_M
from sim.world.terrain import Terrain

_LOW_M = 0.12
"""What is lower is driven over, as kerbs are."""
_HEADROOM_M = 2.0
"""What begins higher is driven under."""
_DRAFT_M, _FREEBOARD_M = 0.3, 0.8
"""What ends deeper under the water's surface is sailed over, what begins higher above it is sailed under."""


@dataclass(frozen=True, slots=True, eq=False)
class Solids:
    """In the plane of the vehicles."""

    standing: np.ndarray
    """(n, 6) footprints of shapes that stay: centre x, y, half length, half width [m], heading [rad], rounding [m]."""
    cones: np.ndarray = field(default_factory=lambda: np.zeros((0, 2)))
    """(k, 2) where cones stand at first [m]."""

    def __bool__(self) -> bool:
        return bool(len(self.standing) + len(self.cones))


def solids_of(world: World) -> Solids:
    """Boulders, and the walls, blocks and parked vehicles of the world's grounds where some are laid out."""
    discs, grounds = boulder_discs(world, higher_than_m=LOW_M), world.grounds
    boulders = np.zeros((len(discs), 6))
    boulders[:, :2], boulders[:, 5] = discs[:, :2], discs[:, 2]
    if grounds is None:
        return Solids(boulders)
    blocks = [*grounds.blocks, *(wall for tunnel in grounds.tunnels for wall in tunnel.walls)]
    standing = [block.shape for block in blocks if block.height_m > _LOW_M and block.base_m < _HEADROOM_M]
    parked = [p.shape for p in grounds.parked if p.position_w[2] < _HEADROOM_M]
    laid_out = footprints([*standing, *parked])
    return Solids(np.concatenate([laid_out, boulders]), np.array(grounds.cones, float))


def solids_afloat(world: World) -> Solids:
    """Quays, pontoons, piles, buoys and moored boats: what reaches through the water's surface; nothing without any."""
    grounds, level_m = world.grounds, world.water_level_m
    if grounds is None or level_m is None:
        return Solids(np.zeros((0, 6)))
    through = [
        block.shape
        for block in grounds.blocks
        if block.base_m < level_m + _FREEBOARD_M and block.height_m > level_m - _DRAFT_M
    ]
    moored = [p.shape for p in grounds.parked if -_DRAFT_M < p.position_w[2] - level_m < _FREEBOARD_M]
    return Solids(footprints([*through, *moored]))


MASS_KG = 2.6
CENTRE_M = 0.22
"""Height of the centre of mass: most of a cone is in its foot."""
INERTIA = (0.075, 0.075, 0.035)
RESTITUTION = 0.4
_G_MPS2 = 9.81
_STEP_S = 0.005
_TOP_RADIUS_M = 0.05
_REST_MPS, _REST_RADPS = 0.08, 0.4
_SIZE = 19
"""Of what is kept of one: whether it moves, its pose (12,) and its twist (6,)."""
_PLACE, _TURNING, _MOVING, _TWIST = slice(10, 13), slice(13, 16), slice(16, 19), slice(13, 19)


class TrafficCone(HolonomicVehicle):
    """A free body with a cone's mass, about its centre of mass."""

    name = "cone"

    def inertia(self, q: Quantities) -> ca.SX:
        return ca.SX(ca.DM(np.diag([*INERTIA, MASS_KG, MASS_KG, MASS_KG])))

    def potential(self, g: ca.SX, q: Quantities) -> ca.SX:
        return MASS_KG * _G_MPS2 * g[SE3.position][2]


class Cones:
    """The cones of a world. All of their state is one array, (k, 19): moving, pose, twist."""

    def __init__(self, places_m: np.ndarray, terrain: Terrain) -> None:
        """`places_m` (k, 2): where they stand."""
        self.state = np.zeros((len(places_m), _SIZE))
        self.state[:, [1, 5, 9]] = 1.0
        self.state[:, 10:12] = places_m
        self.state[:, 12] = terrain.height(places_m[:, 0], places_m[:, 1]) + CENTRE_M
        turn = np.linspace(0.0, 2.0 * np.pi, 8, endpoint=False)
        foot = np.stack([np.cos(turn), np.sin(turn)], axis=1)
        rows = [(*(CONE_RADIUS_M * xy), -CENTRE_M, 0.0) for xy in foot]
        rows += [(*(_TOP_RADIUS_M * xy), CONE_HEIGHT_M - CENTRE_M, 0.0) for xy in foot[::2]]
        self._ground = GroundArrays.of(
            terrain, np.array(rows), friction=0.6, restitution=0.35, gravity_mps2=_G_MPS2
        )

    @property
    def places_w(self) -> np.ndarray:
        """(k, 3) m of their centres of mass."""
        return self.state[:, _PLACE]

    def velocity_w(self, k: int, point_w: np.ndarray) -> np.ndarray:
        """(3,) of the point of a cone that is at a place [m/s]."""
        R, omega, v = self._rotation(k), self.state[k, _TURNING], self.state[k, _MOVING]
        return np.asarray(R @ (v + np.cross(omega, R.T @ (point_w - self.state[k, _PLACE]))))

    def yielding(self, k: int, point_w: np.ndarray, along_w: np.ndarray) -> float:
        """Speed that a unit impulse along a unit vector gives to its own point [1/kg]."""
        arm = np.cross(point_w - self.state[k, _PLACE], along_w)
        turned = self._rotation(k).T @ arm
        return float(1.0 / MASS_KG + turned @ (turned / np.array(INERTIA)))

    def hit(self, k: int, point_w: np.ndarray, impulse_w: np.ndarray) -> None:
        """An impulse (3,) [N s] at a place: it moves from now on."""
        R = self._rotation(k)
        self.state[k, 0] = 1.0
        self.state[k, _MOVING] += R.T @ impulse_w / MASS_KG
        self.state[k, _TURNING] += (
            R.T @ np.cross(point_w - self.state[k, _PLACE], impulse_w) / np.array(INERTIA)
        )

    def go_on(self, dt_s: float) -> None:
        """Those that move do so for a while."""
        moving = np.flatnonzero(self.state[:, 0])
        if not len(moving):
            return
        body, kernel = mechanics()
        u, p, nothing = body.neutral_controls, body.parameter_vector, np.zeros(kernel.dim)
        steps = max(round(dt_s / _STEP_S), 1)
        h = dt_s / steps
        for k in moving.tolist():
            # All that it remembers is in its state: so it goes on alike from wherever that is kept.
            self._ground.report[:] = 0.0
            y = kernel.start(self.state[k, 1:].copy(), u, p, h, self._ground.env)
            kernel.advance(y, u, nothing, p, h, steps, self._ground.env)
            node = kernel.node(y, u, p, h, env=self._ground.env)
            if np.isfinite(node).all():
                self.state[k, 1:] = node
            else:
                self.state[k, _TWIST] = 0.0
            turning, moving = np.linalg.norm(self.state[k, _TWIST].reshape(2, 3), axis=1)
            if moving < _REST_MPS and turning < _REST_RADPS and self._ground.report[1] > 1:
                self.state[k, 0], self.state[k, _TWIST] = 0.0, 0.0

    def _rotation(self, k: int) -> np.ndarray:
        return self.state[k, 1:10].reshape(3, 3, order="F")


@cache
def mechanics() -> tuple[HolonomicVehicle, Stepper]:
    """A free body with a cone's numbers, and what moves it over ground."""
    body = TrafficCone()
    return body, compile_kernel(body, integrator(default_for(body)), GROUND)
