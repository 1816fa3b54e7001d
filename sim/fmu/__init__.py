"""Vehicles as FMUs, co-simulation units that other programs step, without Python.

`export.export_fmu` is the door. `description` says which variables there are and writes the XML file of a unit; `code`
prints what they are found from, `trees` the recursions of trees of joints, and compiles it for several systems;
`runtime/` holds what of FMI 2.0 and 3.0 is the same for all vehicles, in C.
"""
