"""Small scenes for the tests of the simulation."""

import threading
from dataclasses import replace
from functools import cache

import numpy as np

from sim.commands import PilotInput, SetFlightMode, SetPilotInput
from sim.scene import LaneSpec, Scene, Start, load_scene
from sim.shapes import Box, Capsule, Cone, ConvexMesh, Drum, Ellipsoid, Shape, Sphere
from sim.simulation import KernelStore, Simulation
from sim.simulation.lanes.snapshot import LaneSnapshot
from sim.steppers.dynamics import stepper_of
from sim.vehicles import known_vehicle
from sim.world import World, load_world
from tests.patience import PATIENCE_S

HERE = (0.0, 0.0, 0.0)
WEDGE = ((0.0, 0.0, 0.0), (0.4, 0.0, 0.0), (0.0, 0.4, 0.0), (0.1, 0.1, 0.4))
SHAPES: tuple[Shape, ...] = (
    Sphere(HERE, 0.2),
    Box(HERE, (0.2, 0.15, 0.1), 0.4),
    Capsule((0.0, -0.1, -0.2), (0.0, 0.1, 0.2), 0.1),
    Drum(HERE, 0.2, 0.25),
    Cone(HERE, 0.2, 0.4),
    Ellipsoid(HERE, (0.3, 0.2, 0.15)),
    ConvexMesh(WEDGE),
)
"""One of each kind that props may have, of no symmetry where the kind allows that."""


@cache
def world(name: str = "plain") -> World:
    return load_world(name, seed=7)


def helicopter_scene(**changes) -> Scene:
    """The full-size helicopter on the start pad of the plain."""
    return replace(load_scene("canyon"), world="plain", **changes)


def spinning_scene(*lanes: LaneSpec, step_s: float = 0.25) -> Scene:
    """A free body with the racket's unstable spin, high above the plain."""
    return Scene(
        name="racket",
        title="racket",
        world="plain",
        vehicle=known_vehicle("rigid-body"),
        step_s=step_s,
        flight_mode="raw",
        start=Start(position_w=(0.0, 0.0, 300.0), omega_b=(0.1, 12.0, 0.1), velocity_b=(1.0, 0.0, 0.5)),
        lanes=lanes,
    )


def simulation(scene: Scene, kernels: KernelStore | None = None) -> Simulation:
    return Simulation(scene, world(scene.world), kernels=kernels)


def flown(seconds: float, throttle: float = 0.4) -> Simulation:
    """The helicopter after so long under one lift."""
    flying = simulation(helicopter_scene())
    flying.submit(SetFlightMode("raw"))
    flying.advance(0.1)
    flying.submit(SetPilotInput(PilotInput(throttle=throttle)))
    flying.advance(seconds)
    return flying


def advance_to(running: Simulation, end_s: float, frame_s: float) -> None:
    """Frame by frame until its clock shows `end_s`; a clock that stands still fails, and is not waited for."""
    while (clock_s := running.snapshot.clock_s) < end_s:
        assert running.advance(frame_s).clock_s > clock_s, running.snapshot.lanes[0].status_text


class GatedKernels(KernelStore):
    """Kernels that come while the gate is open; `asked` has the methods asked for, `made` how many were made."""

    def __init__(self) -> None:
        self.gate, self.asked, self.made = threading.Event(), [], 0
        self.gate.set()
        super().__init__(make=self._through)

    def get(self, vehicle, integrator, contact=True, *, tell=None):
        self.asked.append(getattr(integrator, "name", integrator))
        return super().get(vehicle, integrator, contact, tell=tell)

    def shut(self) -> None:
        """From now on they come in the background, and not before the gate is open."""
        self.gate.clear()
        self.work_in_background()

    def _through(self, *asked):
        self.gate.wait(PATIENCE_S)
        self.made += 1
        return stepper_of(*asked)


def fly(running: Simulation, seconds: float, **sticks: float) -> LaneSnapshot:
    """Hold the sticks for some seconds; the flown lane after that."""
    running.submit(SetPilotInput(PilotInput(**sticks)))
    return running.advance(seconds).lanes[0]


def speed(lane: LaneSnapshot) -> float:
    return float(np.linalg.norm(lane.twist_b[3:]))


def place(lane: LaneSnapshot) -> np.ndarray:
    return lane.T_wb[:3, 3]
