"""What docs/trees.md shows runs as it stands."""

import re
from pathlib import Path

import pytest

import sim

GUIDE = Path(__file__).parents[2] / "docs/trees.md"


def block(kind):
    found = re.search(rf"```{kind}\n(.*?)```", GUIDE.read_text(), re.DOTALL)
    assert found
    return found.group(1)


def test_the_declared_arm_moves(capsys):
    exec(block("python"), {})
    assert "[" in capsys.readouterr().out


def test_the_cable_hangs_with_its_load():
    names = {"sim": sim}
    exec(block("python rod"), names)
    assert names["run"].diverged_at is None
    assert names["run"].bodies["load"][-1, 2, 3] == pytest.approx(-4.0, abs=1e-6)


def test_the_four_bar_stays_closed():
    names = {"sim": sim}
    exec(block("python loops"), names)
    assert abs(names["four_bar"].gaps(names["motion"].q)).max() < 1e-9


def test_a_step_is_had_as_expressions():
    names = {"sim": sim}
    exec(block("python expressions"), names)
    assert names["slope"].shape == (6, 6)


def test_the_robot_is_read_and_driven(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("humanoid.xml").write_text(
        '<mujoco><worldbody><body name="torso" pos="0 0 1"><freejoint/><geom size=".2"/><body name="pelvis">'
        '<joint name="abdomen_y" axis="0 1 0"/><geom type="capsule" fromto="0 0 -.2 0 0 -.4" size=".1"/></body></body>'
        '</worldbody><actuator><motor name="abdomen_y" joint="abdomen_y" gear="40"/></actuator></mujoco>'
    )
    exec(block("python robot"), {"sim": sim})
    assert "abdomen_y" in capsys.readouterr().out


def test_every_picture_of_the_guide_is_there():
    for name in re.findall(r"\]\((.*?\.png)\)", GUIDE.read_text()):
        assert (GUIDE.parent / name).is_file()
