"""What surrounds a vehicle: `environment` has the one protocol, `coupling` that of water and obstacles with a state of
their own, which are exchanged impulses with between steps."""
