"""Laws of steering in the past: what is meant flies on, what was held or lets go by itself does not."""

import numpy as np
import pytest

from sim.commands import PilotInput
from ui.shell.keys import Intervention

DRIVE = frozenset({"gait-drive"})


def told(*sticks: PilotInput) -> list[bool]:
    """Frame by frame, after a frame in the present."""
    watched = Intervention()
    watched.begins(sticks[0], looking=False)
    return [watched.begins(each, looking=True) for each in sticks]


def ramp(begin: float, end: float) -> list[PilotInput]:
    return [PilotInput(pitch=float(value)) for value in np.linspace(begin, end, 20)]


def test_a_control_that_is_moved_outwards_says_so_once() -> None:
    assert sum(told(*ramp(0.0, 1.0))) == 1
    assert sum(told(*ramp(0.0, -0.5))) == 1
    assert sum(told(*ramp(0.3, 1.0))) == 1


@pytest.mark.parametrize("held", [1.0, -0.6])
def test_a_control_that_is_held_or_let_go_says_nothing_until_it_is_moved_again(held: float) -> None:
    let_go = [*ramp(held, held), *ramp(held, 0.0)]
    assert not any(told(*let_go))
    assert sum(told(*let_go, *ramp(0.0, held))) == 1
    assert sum(told(*let_go, *ramp(0.0, -held))) == 1


def test_a_stick_that_trembles_says_nothing() -> None:
    trembling = [PilotInput(roll=0.2 + 0.05 * (-1.0) ** k, yaw=0.03 * (-1.0) ** k) for k in range(50)]
    assert not any(told(*trembling))


def test_an_action_counts_when_it_is_pressed_anew() -> None:
    held, free = PilotInput(actions=DRIVE), PilotInput()
    assert not any(told(held, held, free, free))
    assert told(held, free, held, held) == [False, False, True, False]


def test_every_look_back_is_heard_anew() -> None:
    watched = Intervention()
    for _ in range(3):
        assert not watched.begins(PilotInput(), looking=False)
        assert not watched.begins(PilotInput(), looking=True)
        assert watched.begins(PilotInput(throttle=0.5), looking=True)
