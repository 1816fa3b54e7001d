"""Trees of joints in linear time (the multibody paper): declared as `tree`, run by recursions over flat `arrays`.

`tree.tree` turns `declaration.Body` and `Joint` into arrays; `spatial`, `kinematics` and `twists` are the vocabulary of
the recursions in `recursions`, `articulated` and `newton`; `roots` and `stepping` make one variational step of them,
`loops` closes loops, `continuous` is the tree's equation of motion, `observing` what follows from a node. Nothing here
knows a vehicle or the ground: lanes of trees are advanced by `sim.steppers`.
"""
