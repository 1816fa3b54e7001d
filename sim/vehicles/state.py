"""States: flat arrays, and where in them pose, velocity and shape stand."""

from dataclasses import dataclass

import numpy as np

from sim.groups import LieGroup


@dataclass(frozen=True, slots=True)
class NodeLayout:
    """Where pose, velocity and shape stand in the flat array of a node."""

    pose: slice
    velocity: slice
    """Body twist, (omega, v) on SE(3), (omega, vx, vy) on SE(2), omega on SO(3)."""
    shape: slice
    shape_velocity: slice
    acting: slice
    """What acts of controls that lag."""
    size: int


@dataclass(frozen=True, eq=False)
class State:
    """A vehicle's state at one time: `node` is flat, laid out as `layout` says, SI units."""

    node: np.ndarray
    layout: NodeLayout
    group: LieGroup | None
    """None for systems whose configuration is no single group element."""

    @property
    def pose(self) -> np.ndarray:
        """Homogeneous matrix T_wb; on SO(3) the rotation R_wb alone; of other systems the flat configuration."""
        flat = self.node[self.layout.pose]
        return flat.copy() if self.group is None else self.group.to_matrix(flat)

    @property
    def velocity(self) -> np.ndarray:
        """Body twist at the node."""
        return self.node[self.layout.velocity].copy()

    @property
    def shape(self) -> np.ndarray:
        return self.node[self.layout.shape].copy()

    @property
    def shape_velocity(self) -> np.ndarray:
        return self.node[self.layout.shape_velocity].copy()
