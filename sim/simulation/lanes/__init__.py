"""One lane: a vehicle under one integrator. Integrate, observe, record, and what places, stops and pictures it.

`lane.Lane` is the door; `snapshot` is what others see of it, `kernels` where its machine code comes from.
"""
