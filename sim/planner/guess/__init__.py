"""Where solvers start: ways around everything and motions along them, by how a vehicle moves."""
