"""How well somebody brought a vehicle to lie where it was to lie, as it was to lie."""

from dataclasses import dataclass

GRADES = (("butter", 0.3, 3.0), ("good", 1.0, 8.0), ("fair", 2.5, 20.0))
"""(grade, farthest from the place [m], most off the heading [degrees])."""
WORST = "rough"


@dataclass(frozen=True, slots=True)
class Docking:
    """At the moment at which the goal was done."""

    off_m: float
    off_deg: float
    """Of the heading; 0 where none was asked for."""

    @property
    def grade(self) -> str:
        """The best whose bounds are both kept."""
        for name, off_m, off_deg in GRADES:
            if self.off_m <= off_m and self.off_deg <= off_deg:
                return name
        return WORST

    @property
    def words(self) -> str:
        """In one line."""
        return f"Docking {self.grade}: {self.off_m:.1f} m from the place, {self.off_deg:.0f} degrees off the heading"
