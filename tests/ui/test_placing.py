"""Laws of placing: signs stay in the picture and off one another as long as there is room."""

import numpy as np

from ui.window.widgets import overlap, placed

PICTURE = (100.0, 50.0, 800.0, 500.0)


def inside(box) -> bool:
    x, y, w, h = box
    left, top, width, height = PICTURE
    return left <= x and top <= y and x + w <= left + width and y + h <= top + height


def test_a_sign_that_is_clear_stays_where_it_is_wanted():
    wanted = (300.0, 200.0, 120.0, 20.0)
    assert placed(wanted, PICTURE, [(300.0, 221.0, 120.0, 20.0)], step=8.0) == wanted


def test_many_signs_about_one_place_end_up_in_the_picture_and_apart():
    rng = np.random.default_rng(4)
    for centre in ((110.0, 60.0), (880.0, 545.0), (500.0, 300.0), (2000.0, -400.0)):
        taken = [(100.0, 50.0, 430.0, 250.0)]
        for _ in range(8):
            x, y = np.array(centre) + rng.uniform(-30.0, 30.0, 2)
            taken.append(placed((x, y, rng.uniform(60.0, 200.0), 22.0), PICTURE, taken, step=8.0))
        assert all(inside(box) for box in taken)
        assert not any(overlap(a, b) for k, a in enumerate(taken) for b in taken[:k])


def test_it_moves_no_farther_than_it_must():
    taken = [(290.0, 180.0, 200.0, 40.0)]
    x, y, _, height = placed((300.0, 185.0, 50.0, 20.0), PICTURE, taken, step=1.0)
    assert (x, y + height) == (300.0, 180.0)


def test_without_room_it_lies_on_another_rather_than_outside():
    box = placed((0.0, 0.0, 100.0, 20.0), PICTURE, [PICTURE], step=8.0)
    assert inside(box)
    assert inside(placed((0.0, 900.0, 5.0, 20.0), PICTURE, [PICTURE], step=8.0))
