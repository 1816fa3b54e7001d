"""Names of a take's columns, with units and frames."""

import csv
from collections.abc import Callable
from dataclasses import field, replace
from datetime import datetime
from enum import Enum
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np

from sim.integrators import Integrator
from sim.integrators import integrator as integrator_named
from sim.platform.errors import InputError
from sim.platform.replacing import replacing
from sim.platform.values import dataclass
from sim.recordings.playback import Kernels, Playback, TakeSamples, compiled, resimulated, world_of
from sim.recordings.segment import Segment
from sim.steppers.trajectory import STEPS_MAX, Trajectory
from sim.vehicles import Vehicle
from sim.vehicles.forms.parameters import Value
from sim.world import World

if TYPE_CHECKING:
    from sim.planner.result.plan import Plan
    from sim.planner.result.record import PlanRecord


class LaneStatus(Enum):
    """Whether a lane runs, and if not, why."""

    RUNNING = "running"
    DIVERGED = "diverged"
    CRASHED = "crashed"
    OFF_MAP = "off the map"
    GIVEN_UP = "given up"


FALLS_S = 6.0
"""So long after a crash is shown how the wreck falls."""


def node_columns(vehicle: Vehicle) -> list[str]:
    """Of a flat node: pose (rotations column by column, body to world), body twist, shape and its rates."""
    return list(vehicle.space.columns)


def control_columns(vehicle: Vehicle) -> list[str]:
    """Of the controls, in the vehicle's own units."""
    return [f"control_{control.name}" for control in vehicle.controls]


def write_table(vehicle: Vehicle, seen: TakeSamples, path: Path) -> None:
    """Write the table, or nothing. Raises OSError."""
    momenta = [f"momentum_{k}" for k in range(seen.observed.momentum.shape[1])]
    with replacing(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        columns = ["time_s", *node_columns(vehicle), *control_columns(vehicle), "energy_J", *momenta]
        writer.writerow(columns)
        told = seen.observed
        for row in zip(seen.time, seen.nodes, seen.controls, told.energy, told.momentum, strict=True):
            time_s, node, controls, energy, momentum = row
            writer.writerow(
                [float(time_s), *node.tolist(), *controls.tolist(), float(energy), *momentum.tolist()]
            )


def now() -> str:
    """Local date and time, to the second."""
    return datetime.now().astimezone().isoformat(timespec="seconds")


@dataclass(frozen=True, eq=False, kw_only=True)
class Take:
    """Inputs and states of one vehicle over a while. Immutable; every change makes another take."""

    name: str
    segments: tuple[Segment, ...] = field(repr=False)
    """One after the other in time, all of one vehicle; a change of method or parameters begins the next."""
    scene: str = ""
    """Name of the scene, or path of its file; empty: none."""
    world: str = "plain"
    seed: int = 7
    created: str = ""
    """ISO date and time."""
    status: LaneStatus = LaneStatus.RUNNING
    """At its end."""
    ended: str = ""
    """Why it could not go on; empty where it could."""
    note: str = ""
    """What to tell where it is opened, in a few words; empty: nothing."""

    def __post_init__(self) -> None:
        if not self.segments or len({segment.vehicle.name for segment in self.segments}) > 1:
            raise InputError(f'take "{self.name}": a take is of one vehicle over some time')

    def finished(self, created: str, status: LaneStatus = LaneStatus.RUNNING, ended: str = "") -> Self:
        """The same with what is known once it is over."""
        return replace(self, created=created, status=status, ended=ended)

    @property
    def vehicle(self) -> Vehicle:
        """With the parameters it has at the start."""
        return self.segments[0].vehicle

    @property
    def integrator(self) -> Integrator:
        """At the start."""
        return self.segments[0].integrator

    @property
    def shown_s(self) -> float:
        """How long it is shown: its duration, and the fall of the wreck where it ends in a crash."""
        return self.duration_s + (FALLS_S if self.status is LaneStatus.CRASHED else 0.0)

    @property
    def step_s(self) -> float:
        """At the start."""
        return self.segments[0].step_s

    @property
    def begin_s(self) -> float:
        return self.segments[0].begin_s

    @property
    def end_s(self) -> float:
        return self.segments[-1].end_s

    @property
    def duration_s(self) -> float:
        return self.end_s - self.begin_s

    @cached_property
    def trajectory(self) -> Trajectory:
        """At all steps. Raises InputError where method or parameters change on the way."""
        segment = self.segments[0]
        if len(self.segments) > 1:
            raise InputError(
                f'take "{self.name}": method or parameters change; use samples() or resimulate()'
            )
        seen = self.samples()
        return Trajectory(
            vehicle=segment.vehicle,
            integrator=segment.integrator,
            step_s=segment.step_s,
            time=seen.time,
            nodes=seen.nodes,
            controls=seen.controls[:-1],
            observed=seen.observed,
            diverged_at=self.end_s if self.status is LaneStatus.DIVERGED else None,
            newton_iterations=seen.newton_iterations,
        )

    @property
    def flown_by(self) -> tuple[tuple[float, str, dict[str, float]], ...]:
        """(time [s] from which on, class, gains) of the controllers that flew, and of each change of their gains;
        the class is empty from where on none did."""
        return tuple(
            (max(segment.since_s + step * segment.step_s, segment.begin_s), name, gains)
            for segment in self.segments
            for step, name, gains in segment.flown_by
        )

    def samples(self, every_s: float = 0.0) -> TakeSamples:
        """Nodes and inputs at all steps, or at the first ones that begin `every_s` seconds apart."""
        return self.playback().samples(every_s)

    def playback(
        self,
        world: Callable[[], World] | None = None,
        *,
        kernels: Kernels = compiled,
        segments: tuple[Segment, ...] = (),
    ) -> Playback:
        """Looks into the take, or into other segments in its world. `world`: given where it is loaded already."""
        return Playback(segments or self.segments, world or world_of(self.world, self.seed), kernels=kernels)

    def resimulate(
        self,
        *,
        integrator: str | Integrator | None = None,
        step: float | None = None,
        parameters: dict[str, Value] | None = None,
        world: Callable[[], World] | None = None,
        kernels: Kernels = compiled,
    ) -> Self:
        """The same inputs from the same start, with what is given here changed; nothing given: every bit again.

        step: seconds. Raises InputError for what does not serve the vehicle.
        """
        scheme = integrator_named(integrator) if isinstance(integrator, str) else integrator
        if step is not None and not (np.isfinite(step) and step > 0.0):
            raise InputError(f"step = {step!r} is not possible; allowed: seconds above 0")
        if step is not None and self.duration_s / step > STEPS_MAX:
            steps = self.duration_s / step
            raise InputError(f"step = {step:g} s makes {steps:g} steps; allowed: up to {STEPS_MAX}")
        reason = scheme.serves(self.vehicle) if scheme is not None else ""
        if reason:
            raise InputError(reason)
        methods = tuple(
            replace(
                segment,
                vehicle=segment.vehicle.with_parameters(**parameters) if parameters else segment.vehicle,
                integrator=scheme or segment.integrator,
                step_s=segment.step_s if step is None else float(step),
            )
            for segment in self.segments
        )
        load = world or world_of(self.world, self.seed)
        segments, ended = resimulated(
            self.segments, methods, lambda segments: self.playback(load, kernels=kernels, segments=segments)
        )
        status = LaneStatus.DIVERGED if ended else LaneStatus.RUNNING
        return replace(self, segments=segments, created=now(), status=status, ended=ended)

    def csv(self, path: str | Path, *, every_s: float = 0.0) -> None:
        """Write a table, one row a node. Raises OSError where it cannot be written."""
        write_table(self.vehicle, self.samples(every_s), Path(path))

    @classmethod
    def of_trajectory(
        cls, trajectory: Trajectory, name: str = "", *, scene: str = "", world: str = "plain", seed: int = 7
    ) -> Self:
        """What `sim.simulate` gave, up to where it diverged."""
        done, ended, status = len(trajectory.controls), "", LaneStatus.RUNNING
        if trajectory.diverged_at is not None:
            done = round(trajectory.diverged_at / trajectory.step_s)
            because = trajectory.diverged_because or "diverged"
            ended, status = f"{because} at t = {trajectory.diverged_at:g} s", LaneStatus.DIVERGED
        segment = segment_of(
            trajectory.vehicle,
            trajectory.integrator,
            trajectory.step_s,
            trajectory.nodes[: 1 if trajectory.held else done + 1],
            trajectory.controls[:done],
        )
        title = name or trajectory.vehicle.name
        return cls(
            name=title,
            segments=(segment,),
            scene=scene,
            world=world,
            seed=seed,
            created=now(),
            status=status,
            ended=ended,
        )

    @classmethod
    def of_plan(
        cls,
        plan: "Plan | PlanRecord",
        name: str = "",
        *,
        scene: str = "",
        world: str = "plain",
        seed: int = 7,
    ) -> Self:
        """The planned inputs from the planned start: played, they lead along the plan."""
        from sim.planner.result.record import PlanRecord

        if isinstance(plan, PlanRecord):
            scheme, start = plan.method, plan.nodes[0]
        else:
            scheme, start = plan.integrator, plan.motion.nodes[0]
        segment = segment_of(plan.vehicle, scheme, plan.step_s, start[None], plan.controls, every_step=True)
        return cls(
            name=name or "plan", segments=(segment,), scene=scene, world=world, seed=seed, created=now()
        )


def segment_of(
    vehicle: Vehicle,
    integrator: Integrator,
    step_s: float,
    nodes: np.ndarray,
    controls: np.ndarray,
    *,
    every_step: bool = False,
) -> Segment:
    """In free space, under controls (N, n_controls); of a plan (N+1, n_controls), `every_step`.

    nodes: (1, node size) where it starts, or (N+1, node size) of all steps, each of which then goes on from its own.
    """
    steps = len(controls) - every_step
    u = np.ascontiguousarray(controls if len(controls) else vehicle.neutral_controls[None], float)
    kernel, p = compiled(vehicle, integrator, False), vehicle.parameter_vector
    points = np.arange(len(nodes))
    states = [
        kernel.start(np.ascontiguousarray(node), u[min(k, len(u) - 1)], p, step_s)
        for k, node in enumerate(nodes)
    ]
    kept = np.flatnonzero(np.append(True, np.any(np.diff(u, axis=0) != 0.0, axis=1)))
    return Segment(
        vehicle=vehicle,
        integrator=integrator,
        step_s=step_s,
        since_s=0.0,
        steps=steps,
        change_steps=kept.astype(np.int64),
        controls=u[kept],
        point_steps=points.astype(np.int64),
        states=np.array(states),
        memories=np.zeros((len(points), 0)),
        contact=False,
        every_step=every_step,
    )
