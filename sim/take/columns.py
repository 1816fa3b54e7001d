"""Names of a take's columns, with units and frames."""

from sim.vehicles import Vehicle

_TURN = [f"R_{row}{column}" for column in "123" for row in "123"]
_POSES = {
    "SE3": [*_TURN, "x_m", "y_m", "z_m"],
    "SE2": ["heading_rad", "x_m", "y_m"],
    "SO3": _TURN,
}
_TWISTS = {
    "SE3": [
        *(f"omega_{axis}_radps" for axis in "xyz"),
        *(f"v_{axis}_mps" for axis in "xyz"),
    ],
    "SE2": ["omega_z_radps", "v_x_mps", "v_y_mps"],
    "SO3": [f"omega_{axis}_radps" for axis in "xyz"],
}


def node_columns(vehicle: Vehicle) -> list[str]:
    """Of a flat node: pose (rotations column by column, body to world), body twist, shape and its rates."""
    group = vehicle.group
    pose = _POSES.get(group.name, [f"pose_{k}" for k in range(group.pose_dim)])
    twist = _TWISTS.get(group.name, [f"velocity_{k}" for k in range(group.dim)])
    shape = [f"shape_{c.name}" for c in vehicle.shape_coordinates]
    return [*pose, *twist, *shape, *(f"{name}_rate" for name in shape)]


def control_columns(vehicle: Vehicle) -> list[str]:
    """Of the controls, in the vehicle's own units."""
    return [f"control_{control.name}" for control in vehicle.controls]
