"""Laws of the plots' memory."""

import numpy as np
import pytest

from sim.groups.numeric import pose_matrix, rotation_exp
from sim.recordings.take import LaneStatus
from sim.simulation.lanes.snapshot import LaneSnapshot
from sim.vehicle_config import config_named
from sim.vehicles import known_vehicle
from sim.vehicles.forms.coordinates import coordinates_of, posed
from tests.ui import fakes
from ui.features.plots.channels import MOST_ENCODERS, measured, offered
from ui.features.plots.curves import History, thinned


def filled(count: int, capacity: int = 100) -> History:
    history = History(("up", "down"), capacity)
    for k in range(count):
        history.append(float(k), {"up": k, "down": -k})
    return history


def test_the_last_samples_are_kept_in_order_however_many_came() -> None:
    for count in (1, 99, 100, 101, 199, 200, 201, 350, 1000):
        history = filled(count)
        trace = history.trace("up", -1.0, 1e9, points=10_000)
        first = max(count - 100, 0)
        assert np.array_equal(trace.time_s, np.arange(first, count))
        assert np.array_equal(trace.values, np.arange(first, count))
        assert len(history) == min(count, 100)


def test_traces_are_what_plots_take_contiguous_float64_vectors() -> None:
    for points in (10, 1000):
        trace = filled(250).trace("down", 180.0, 220.0, points)
        for array in (trace.time_s, trace.values):
            assert array.flags.c_contiguous
            assert array.dtype == np.float64
            assert array.ndim == 1


def test_a_trace_covers_the_visible_range_and_one_sample_on_either_side() -> None:
    trace = filled(90).trace("up", 20.5, 30.5)
    assert (trace.time_s[0], trace.time_s[-1]) == (20.0, 31.0)


def test_thinning_keeps_every_spike_and_both_ends() -> None:
    values = np.zeros(5000)
    values[[17, 2503, 4711]] = (5.0, -7.0, 9.0)
    trace = thinned(np.arange(5000.0), values, 200)
    assert len(trace.values) < 260
    assert (trace.values.max(), trace.values.min(), np.sum(trace.values != 0.0)) == (9.0, -7.0, 3)
    assert (trace.time_s[0], trace.time_s[-1]) == (0.0, 4999.0)
    assert np.all(np.diff(trace.time_s) > 0.0)


def test_the_same_moment_counts_once_and_time_that_goes_back_cuts_off_what_came_after() -> None:
    history = filled(50)
    history.append(49.0, {"up": 0.0, "down": 0.0})
    assert len(history) == 50
    history.append(20.5, {"up": 1.0, "down": 1.0})
    assert len(history) == 22
    assert history.latest_s == 20.5
    assert history.at("up", 20.2) == 20.0
    history.append(0.0, {"up": 1.0, "down": 1.0})
    assert (len(history), history.latest_s) == (1, 0.0)


def test_channels_are_changes_since_the_start() -> None:
    values = measured(fakes.lane())
    assert values["energy"] == 200.0
    assert np.isclose(values["momentum"], 2.0 * np.sqrt(6.0))
    assert np.isclose(values["cost"], 0.12)


def test_an_inertial_unit_tells_gravity_at_rest_and_nothing_in_free_fall() -> None:
    """Against the closed form: specific force is acceleration minus gravity, in the body's axes."""
    T_wb, dt = fakes.pose(0.3, -0.4, 1.1), 0.02
    for change_w, force_w in (((0.0, 0.0, 0.0), (0.0, 0.0, 9.81)), ((0.0, 0.0, -9.81), (0.0, 0.0, 0.0))):
        before, after = (
            fakes.lane(
                T_wb=T_wb, time_current_s=1.0 + k * dt, parameters={"gravity": 9.81},
                twist_b=np.r_[0.1, 0.2, 0.3, T_wb[:3, :3].T @ ([4.0, 1.0, 2.0] + k * dt * np.array(change_w))],
            )
            for k in (0, 1)
        )  # fmt: skip
        values = measured(after, before)
        felt = [values[f"accel {axis}"] for axis in "xyz"]
        np.testing.assert_allclose(felt, T_wb[:3, :3].T @ np.array(force_w), atol=1e-9)
        assert [values[f"gyro {axis}"] for axis in "xyz"] == [0.1, 0.2, 0.3]
    assert np.isnan(measured(after)["accel z"])


def test_lanes_at_unlike_steps_that_move_as_one_are_nowhere_apart() -> None:
    """At 50 m/s in a steep turn, the closed form of which tells where each is when its own step ends."""
    speed_mps, rate_radps = 50.0, 0.4

    def lane(name: str, ends_s: float, span_s: float, aside_m: float = 0.0, **changes) -> LaneSnapshot:
        def pose(time_s: float) -> np.ndarray:
            angle, radius_m = rate_radps * time_s, speed_mps / rate_radps
            x = (radius_m * np.sin(angle), -radius_m * np.cos(angle), aside_m)
            return pose_matrix(rotation_exp(np.array([0.0, 0.0, angle])), x)

        moments = {"T_wb_previous": pose(ends_s - span_s), "T_wb": pose(ends_s)}
        return fakes.lane(
            name, time_previous_s=ends_s - span_s, time_current_s=ends_s, step_s=span_s, **moments, **changes
        )

    flown = lane("flown", 2.0, 0.02)
    for ends_s, span_s in ((2.0, 0.02), (1.994, 0.02), (1.96, 0.05), (2.003, 0.003), (2.03, 0.01)):
        assert measured(lane("as one", ends_s, span_s), flown=flown)["apart"] < 1e-9
        above = measured(lane("above", ends_s, span_s, 3.0), flown=flown)["apart"]
        assert above == pytest.approx(3.0, abs=1e-9)
    stopped = lane("stopped", 1.0, 0.05, status=LaneStatus.CRASHED)
    off_m = float(np.linalg.norm(stopped.T_wb[:3, 3] - flown.T_wb[:3, 3]))
    assert measured(stopped, flown=flown)["apart"] == pytest.approx(off_m)


def test_joint_encoders_tell_the_coordinates_of_the_joints() -> None:
    arm = known_vehicle("six-axis-arm")
    node = posed(arm, arm.default_state().node, {"elbow": 0.7})
    values = measured(fakes.lane(mechanics=arm, node=node))
    assert values["encoder rad elbow"] == pytest.approx(0.7)
    assert offered(fakes.lane(mechanics=arm, node=node))["encoder rad elbow"].unit == "\N{DEGREE SIGN}"


def test_each_joint_is_offered_once_by_its_name() -> None:
    for name in ("six-axis-arm", "ragdoll", "delta-robot", "chain"):
        tree = known_vehicle(name)
        node = tree.default_state().node
        numbers = {key: np.zeros(len(of)) for key, of in zip(("angle", "torque"), tree.reported, strict=True)}
        lane = fakes.lane(mechanics=tree, node=node, config=config_named(name), observables=numbers)
        known = offered(lane)
        plotted = {plot.of for plot in lane.config.instruments.plots}
        encoded = {c.at for c in coordinates_of(tree)[:MOST_ENCODERS] if c.axis < 0}
        for k, at in enumerate(tree.tree.arrays.q_at[tree.reported[0]].tolist()):
            shown = f"angle.{k}" in known
            assert shown == (f"angle.{k}" in plotted or at not in encoded)
        titles = [channel.title for channel in known.values()]
        assert len(titles) == len(set(titles))
        assert not any(title.startswith(("Angle.", "Torque.")) for title in titles)


def test_planar_vehicles_turn_about_one_axis() -> None:
    planar = fakes.lane(
        twist_b=np.array([0.0, 0.0, -0.7, 3.0, 0.1, 0.0]),
        momentum_w=np.zeros(3),
        momentum_start_w=np.zeros(3),
    )
    assert np.isclose(measured(planar)["omega"], 0.7)


def test_another_vehicles_channels_begin_and_those_in_common_go_on() -> None:
    history = filled(10)
    history.append(10.0, {"down": -10.0, "lean": 0.5})
    np.testing.assert_array_equal(history.trace("down", 8.0, 10.0).values, [-7.0, -8.0, -9.0, -10.0])
    lean = history.trace("lean", 8.0, 10.0).values
    assert np.isnan(lean[:-1]).all()
    assert lean[-1] == 0.5
    assert not len(history.trace("up", 0.0, 10.0).values)
    times, rows = history.kept(("lean", "up"))
    assert rows.shape == (2, len(times))
    assert np.isnan(rows[1]).all()
