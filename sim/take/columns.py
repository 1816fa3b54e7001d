"""Names of a take's columns, with units and frames."""

from sim.vehicles import Vehicle


def node_columns(vehicle: Vehicle) -> list[str]:
    """Of a flat node: pose (rotations column by column, body to world), body twist, shape and its rates."""
    return list(vehicle.space.columns)


def control_columns(vehicle: Vehicle) -> list[str]:
    """Of the controls, in the vehicle's own units."""
    return [f"control_{control.name}" for control in vehicle.controls]
