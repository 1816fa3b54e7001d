"""Who sits or stands on a vehicle, and is thrown off where it crashes: as a vehicle of limbs, in the model's pose."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sim.groups.numeric import rotation_about
from sim.platform.errors import one_of
from sim.platform.toml_table import TomlTable
from sim.vehicle_config.terms import Names, Term, read_term
from sim.vehicles import VEHICLES
from sim.vehicles.forms.articulated import ArticulatedVehicle
from sim.vehicles.forms.form import State

_FAR_M = 10.0

Colour = tuple[float, float, float]


@dataclass(frozen=True, slots=True, eq=False)
class Rider:
    """A person of the model, and the tree of limbs that it is from the crash on, in the same pose."""

    limbs: ArticulatedVehicle
    nodes: tuple[str, ...]
    """Of the model; not drawn any more once it is thrown."""
    body: str
    """In whose frame the place is; empty: the main one."""
    place_m: tuple[float, float, float]
    """Of the pelvis."""
    turn_rad: tuple[float, float, float]
    """Of the pelvis: to the left, nose down, right side down, one after the other."""
    joints: tuple[tuple[str, Term], ...]
    """Angles [rad] by the names of the limbs' joints; others are at rest."""
    clothes: tuple[tuple[str, Colour], ...]
    """Linear RGB by names of materials of the limbs' model, in place of its own."""

    def state(self, T_wb: np.ndarray, twist_b: np.ndarray, values: Mapping[str, float]) -> State:
        """Of the limbs, with the rider's body at T_wb (4, 4) and moving with it by a twist (6,) in its frame.

        values: of what the joints' terms name.
        """
        heading, pitch, roll = self.turn_rad
        T_bp = np.eye(4)
        T_bp[:3, :3] = rotation_about(2, heading) @ rotation_about(1, pitch) @ rotation_about(0, roll)
        T_bp[:3, 3] = self.place_m
        R, omega = T_bp[:3, :3], twist_b[:3]
        twist_p = np.r_[R.T @ omega, R.T @ (twist_b[3:] + np.cross(omega, T_bp[:3, 3]))]
        angles = {name: term.value(values) for name, term in self.joints}
        placed = self.limbs.state_in_space(T_wb @ T_bp, twist_p)
        q = dict(zip(self.limbs.tree.coordinate_names, placed.pose.tolist(), strict=True))
        return self.limbs.state(
            q | {name: angle for name, angle in angles.items() if math.isfinite(angle)}, placed.velocity
        )


def read_rider(table: TomlTable, known: Names) -> Rider | None:
    """`[model.rider]`; None where it is absent."""
    if not table.names():
        return None
    nodes = table.texts("nodes")
    if not nodes:
        raise table.error("nodes", "is missing; allowed: a list of nodes of the model")
    limbs = VEHICLES[table.name("vehicle", VEHICLES, "")]()
    if not isinstance(limbs, ArticulatedVehicle) or not limbs.free:
        raise table.error("vehicle", f'"{limbs.name}" is refused; allowed: a tree of joints that is free')
    x, y, z = table.numbers("place_m", (0.0, 0.0, 1.0), low=-_FAR_M, high=_FAR_M, count=3)
    turns = table.numbers("turn_deg", (0.0, 0.0, 0.0), low=-360.0, high=360.0, count=3)
    heading, pitch, roll = map(math.radians, turns)
    joints, clothes = table.table("joints"), table.table("clothes")
    rider = Rider(
        limbs=limbs,
        nodes=nodes,
        body=table.name("body", ("", *known.bodies), "") if table.has("body") else "",
        place_m=(x, y, z),
        turn_rad=(heading, pitch, roll),
        joints=tuple((name, read_term(joints, name, known)) for name in joints.names()),
        clothes=tuple((name, _colour(clothes, name)) for name in clothes.names()),
    )
    free = limbs.tree.coordinate_names[7:]
    for name, _ in rider.joints:
        if name not in free:
            raise joints.error(name, f"no such joint; allowed: {one_of(free, name)}")
    for inner in (joints, clothes, table):
        inner.finish()
    return rider


def _colour(table: TomlTable, key: str) -> Colour:
    red, green, blue = table.numbers(key, (0.0, 0.0, 0.0), low=0.0, high=1.0, count=3)
    return red, green, blue
