"""What vehicles and props look like, as arrays: models from files, from shapes of bodies, and what stands in for them.

The door is `sim.models.asset`: `load_model(name)`. No graphics: pictures, files and plans are made from the same.
"""
