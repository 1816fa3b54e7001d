"""Saves a scene with its props as they stand."""

from typing import TYPE_CHECKING

import numpy as np

from sim.contact.obstacles import PropsPicture
from ui.features.feature import Actions
from ui.features.plan.actions import scene_saved
from ui.features.props.panel import SaveProps

if TYPE_CHECKING:
    from sim.contact.obstacles.prop_kinds import Placed

_MOVED = 1e-3
"""Of a pose's numbers, from which on a body is somewhere else than where it was put."""


class PropActions(Actions):
    """Of one window."""

    handles = (SaveProps,)

    def carry_out(self, action: object) -> None:
        from sim.contact.obstacles.prop_kinds import scene_with_props  # kernels of bodies are loaded late

        around = self.app.simulation.snapshot.environment
        if isinstance(around, PropsPicture):
            placed = present(around)
            self.app.tell(scene_saved(self.app.scene, lambda text: scene_with_props(text, placed)))


def present(around: PropsPicture) -> "tuple[Placed, ...]":
    """Props as they stand now: those that have gone somewhere else are put there, at rest."""
    pairs = zip(around.placed, around.poses_w, strict=True)
    return tuple(one.at(T_w) if np.abs(T_w - one.prop.T_w).max() > _MOVED else one for one, T_w in pairs)
