"""Saves a scene with all that was placed by hand as it is."""

from typing import TYPE_CHECKING

import numpy as np

from sim.contact.obstacles import PropsPicture
from sim.scene.layout import Layout, scene_with_layout
from sim.simulation.lanes.snapshot import Snapshot
from ui.features.feature import Actions
from ui.features.placing.panel import SaveLayout
from ui.features.placing.things import WIND
from ui.features.plan.actions import scene_saved, with_task

if TYPE_CHECKING:
    from sim.contact.obstacles.prop_kinds import Placed

_MOVED = 1e-3
"""Of a pose's numbers, from which on a body is somewhere else than where it was put."""


class PlacingActions(Actions):
    """Of one window."""

    handles = (SaveLayout,)

    def carry_out(self, action: object) -> None:
        snapshot = self.app.simulation.snapshot
        self.app.tell(scene_saved(self.app, lambda text: self._changed(text, snapshot)))

    def _changed(self, text: str, snapshot: Snapshot) -> str:
        """The text of the scene's file with what is there now."""
        from sim.contact.obstacles.prop_kinds import scene_with_props  # kernels of bodies are loaded late

        scene, around, flown = self.app.scene, snapshot.environment, snapshot.lanes[0]
        text = with_task(self.app, text)
        if snapshot.layout is not None:
            text = scene_with_layout(text, Layout.of(scene), snapshot.layout)
        wind, own = flown.parameters.get(WIND), scene.vehicle
        if wind is not None and flown.vehicle == own.name and not np.array_equal(wind, own.values[WIND]):
            import tomlkit  # is for who writes

            table = tomlkit.parse(text)
            parameters = table.setdefault("parameters", tomlkit.table(is_super_table=True))
            parameters.setdefault(own.name, tomlkit.table())[WIND] = [float(x) for x in np.ravel(wind)]
            text = tomlkit.dumps(table)
        return scene_with_props(text, present(around)) if isinstance(around, PropsPicture) else text


def present(around: PropsPicture) -> "tuple[Placed, ...]":
    """Props as they stand now: those that have gone somewhere else are put there, at rest."""
    pairs = zip(around.placed, around.poses_w, strict=True)
    return tuple(one.at(T_w) if np.abs(T_w - one.prop.T_w).max() > _MOVED else one for one, T_w in pairs)
