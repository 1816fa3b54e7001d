"""Moving water: the sea's waves (`ocean`), splashing water in a box (`flip`), and what either does to a hull.

`water` has the water about a floating vehicle, `wrench` what of it kernels compile, `immersion` the hydrostatics of a
hull.
"""
