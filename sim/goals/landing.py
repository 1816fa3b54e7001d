"""How well somebody landed."""

from dataclasses import dataclass

GRADES = (("butter", 0.5, 0.4, 1.5), ("good", 1.2, 1.0, 4.0), ("fair", 2.0, 2.0, 8.0))
"""(grade, most sink [m/s], most drift [m/s], farthest from the centre [m])."""
WORST = "rough"


@dataclass(frozen=True, slots=True)
class Landing:
    """Of the hardest touch since the vehicle was last well above the ground."""

    sink_mps: float
    """Downwards, at the last snapshot before the touch."""
    drift_mps: float
    """Level speed at that moment."""
    off_m: float
    """From the centre of where it was to land, once it stands."""

    @property
    def grade(self) -> str:
        """The best whose three bounds are all kept."""
        for name, sink, drift, off in GRADES:
            if self.sink_mps <= sink and self.drift_mps <= drift and self.off_m <= off:
                return name
        return WORST

    @property
    def words(self) -> str:
        """In one line."""
        return (
            f"Landing {self.grade}: sink {self.sink_mps:.1f} m/s, drift {self.drift_mps:.1f} m/s, "
            f"{self.off_m:.1f} m from the centre"
        )
