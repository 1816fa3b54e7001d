"""What a vehicle can be: what it declares, in which form, and what follows from that.

`base` is what every vehicle is, `form` the data it is told apart by, `parameters` its named numbers. Forms are
`holonomic`, `nonholonomic` (its mechanics in `reduced_mechanics` and `reduction`), `homogeneous`, and trees of joints
in `articulated`. `observation` and `impulses` compile what is read of a node and what strikes it; `custom` and `robot`
make vehicles of users' files. Doors are `sim.vehicle` and `sim.vehicles`.
"""
