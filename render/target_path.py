"""The path along which the target of a load is led, as a line that is seen on grass and stone alike."""

import numpy as np

from render.frame import Polyline

_COLOUR, _CASING = (1.0, 0.80, 0.32), (0.01, 0.012, 0.015)
"""Linear RGB: brass, as the cross at the target."""
_WIDTH_PX, _CASING_PX = 3.0, 5.0


def target_path(places_w: np.ndarray | None) -> tuple[Polyline, ...]:
    """Through places (n, 3) m; nothing where there is none."""
    if places_w is None:
        return ()
    alpha = np.ones(len(places_w))
    return (
        Polyline(places_w, _CASING, 0.5 * alpha, _CASING_PX),
        Polyline(places_w, _COLOUR, alpha, _WIDTH_PX),
    )
