"""Figures of trajectories show the numbers of the trajectory, with units."""

import io

import numpy as np
import pytest
from PIL import Image

import sim
from sim.platform.errors import InputError


def test_curves_are_the_trajectorys_with_their_units() -> None:
    run = sim.simulate("helicopter", step=0.02, duration=1.0, controls=[49.0, 0.0, 0.02, 0.0])
    figure = run.plot()
    labels = [axis.get_ylabel() for axis in figure.axes]
    assert labels == ["position\n[m]", "energy\n[J]", "controls\n[N]", "controls rad\n[rad]"]
    place, energy, lift, tilt = figure.axes
    for k, line in enumerate(place.lines):
        np.testing.assert_array_equal(line.get_ydata(), run.pose[:, k, 3])
        np.testing.assert_array_equal(line.get_xdata(), run.time)
    np.testing.assert_array_equal(energy.lines[0].get_ydata(), run.energy)
    assert [line.get_label() for line in lift.lines] == ["u_c", "u_psi"]
    np.testing.assert_array_equal(tilt.lines[0].get_ydata()[:-1], run.controls[:, 2])
    assert "time [s]" in figure.axes[-1].get_xlabel()


def test_a_notebook_gets_a_picture() -> None:
    run = sim.simulate("car", step=0.05, duration=1.0, controls=[50.0, 0.2])
    figure = run.plot("shape", "steering", "momentum")
    picture = np.asarray(Image.open(io.BytesIO(figure._repr_png_())).convert("L"), float)
    assert picture.shape[1] > 500
    assert picture.std() > 5.0


def test_an_unknown_quantity_is_refused_in_a_line() -> None:
    run = sim.simulate("pendulum", duration=0.1)
    with pytest.raises(InputError, match="plot: unknown 'hight'; allowed: position") as refused:
        run.plot("hight")
    assert "\n" not in str(refused.value)


def test_what_a_controller_plots_has_the_unit_that_it_gave() -> None:
    class Tells(sim.Controller):
        def control(self, t, state, sticks, memory):
            self.plot("error", 2.0 - t, "m")
            return np.zeros(4)

    run = sim.simulate("quadrotor", duration=0.1, controller=Tells)
    (axis,) = run.plot("error").axes
    assert axis.get_ylabel() == "error\n[m]"
    np.testing.assert_allclose(axis.lines[0].get_ydata()[:-1], 2.0 - run.time[:-1], atol=1e-12)
