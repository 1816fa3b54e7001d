"""Where vehicles touch the ground: a few points each, in the body frame."""

import numpy as np

ROTOR_HUB_M = (0.0, 0.0, 1.75)
ROTOR_RADIUS_M = 5.35
_ROTOR_TIPS = 12


def contact_points(vehicle: str) -> np.ndarray:
    """(k, 4) body points [m]; the fourth number is 1 where a touch means a crash, else 0."""
    return _HELICOPTER if vehicle == "helicopter" else _BOX


def soles_m(vehicle: str) -> float:
    """Height of the body origin above level ground when the vehicle stands [m]."""
    points = contact_points(vehicle)
    return -float(points[:, 2].min())


def _helicopter() -> np.ndarray:
    """Skids to stand on; rotor disc, tail and cabin that bear no touch."""
    skids = [(x, y, -1.4, 0.0) for x in (-1.6, 0.05, 1.7) for y in (-1.0, 1.0)]
    turn = 2.0 * np.pi / _ROTOR_TIPS * np.arange(_ROTOR_TIPS)
    tips = [(ROTOR_RADIUS_M * np.cos(a), ROTOR_RADIUS_M * np.sin(a), ROTOR_HUB_M[2], 1.0) for a in turn]
    tail = [(-6.2, 0.0, -0.1, 1.0), (-7.05, 0.0, 0.75, 1.0), (-4.0, 0.0, 0.2, 1.0)]
    cabin = [(2.3, 0.0, -0.5, 1.0), (1.0, -0.8, -0.8, 1.0), (1.0, 0.8, -0.8, 1.0), (0.0, 0.0, 1.75, 1.0)]
    return np.array([*skids, *tips, *tail, *cabin])


def _box() -> np.ndarray:
    """The corners of the box that a vehicle without a model is drawn as."""
    return np.array([(x, y, z, 0.0) for x in (-1.0, 1.0) for y in (-0.6, 0.6) for z in (-0.4, 0.4)])


_HELICOPTER = _helicopter()
_BOX = _box()
