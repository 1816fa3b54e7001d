"""Where systems are: groups, spheres and their tangent bundles, R^n, products of these; and how groups act there.

Points are flat columns with named slices; nobody who reads one counts its numbers.
"""

from sim.spaces.action import Action, Power, Product
from sim.spaces.base import Euclidean, GroupSpace, Space, Sphere, TangentBundle, UnitQuaternions

__all__ = [
    "Action",
    "Euclidean",
    "GroupSpace",
    "Power",
    "Product",
    "Space",
    "Sphere",
    "TangentBundle",
    "UnitQuaternions",
]
