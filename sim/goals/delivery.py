"""How well somebody put down what hangs from the vehicle."""

import math
from dataclasses import dataclass, replace

GRADES = (("butter", 1.0, 0.3, 2.0), ("good", 2.5, 0.7, 5.0), ("fair", 5.0, 1.2, 10.0))
"""(grade, farthest from the middle [m], fastest put down [m/s], most swing [degrees])."""
WORST = "rough"


@dataclass(frozen=True, slots=True)
class Delivery:
    """Of a body that lies where it was to be put."""

    off_m: float = 0.0
    """From the middle of the place."""
    put_mps: float = 0.0
    """Its speed when all that the goal asks for began to hold."""
    swing_deg: float = 0.0
    """Greatest angle of the cable since then."""

    def lying(self, off_m: float, swing_rad: float) -> "Delivery":
        """A moment later."""
        return replace(self, off_m=off_m, swing_deg=max(self.swing_deg, math.degrees(swing_rad)))

    @property
    def grade(self) -> str:
        """The best whose three bounds are all kept."""
        for name, off, put, swing in GRADES:
            if self.off_m <= off and self.put_mps <= put and self.swing_deg <= swing:
                return name
        return WORST

    @property
    def words(self) -> str:
        """In one line."""
        return (
            f"Delivery {self.grade}: {self.off_m:.1f} m from the middle, put down at {self.put_mps:.1f} m/s, "
            f"swing {self.swing_deg:.0f} degrees"
        )
