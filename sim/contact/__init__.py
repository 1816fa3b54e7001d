"""Contact of bodies with terrain and obstacles.

A step asks `ground` (one rigid body within a kernel), `struck_ground` (vehicles that take impulses between steps) or
`obstacles`. All of them make a row for each contact (`rows`), whose impulses `solver` finds; `height_field` reads the
terrain in compiled code.
"""
