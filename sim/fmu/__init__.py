"""Vehicles as FMUs, co-simulation units that other programs step, without Python.

`export.export_fmu` is the door. `interface` says which variables there are, `code` prints what they are found from, and
`trees` the recursions of trees of joints; `description` writes the XML file of a unit, `build` compiles for several
systems; `runtime/` holds what of FMI 2.0 and 3.0 is the same for all vehicles, in C.
"""
