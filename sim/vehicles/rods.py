"""What a chain of rods and bobs declares beside what moves it: the force on each bob, for methods of its mechanics."""

from abc import abstractmethod

import casadi as ca

from sim.vehicles.acted import ActionVehicle
from sim.vehicles.hung_rods import Bob
from sim.vehicles.parametrised import Quantities


class LinkedRods(ActionVehicle):
    """Light rods hinged one below the other from a fixed point, a bob at the end of each.

    A part of its state is (q, omega) of a rod, its direction away from the fixed point and angular velocity. It has
    parameters `mass` and `length`, a number each rod.
    """

    @property
    @abstractmethod
    def link_count(self) -> int:
        """N."""

    @abstractmethod
    def bob_force(self, bob: Bob, u: ca.SX, q: Quantities) -> ca.SX:
        """(3,) on a bob beside the rods' pulls [N]."""
