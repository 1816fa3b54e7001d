"""Before a file from elsewhere is run, the user sees what it is and what it says, and only a click trusts it."""

from pathlib import Path

import pytest
from imgui_bundle import imgui

from sim.platform.errors import InputError, UntrustedFile
from sim.scene import load_scene
from sim.simulation.lanes.snapshot import Snapshot
from tests.ui import fakes
from tests.ui.bench import Bench
from ui.features.scenes.coming import SHOWN_LINES, TrustQuestion, draw_trust, question_of
from ui.features.scenes.view import AnswerTrust
from ui.window.context import PanelContext, Request

QUESTION = TrustQuestion("own.toml", Path("/elsewhere/evil.py"), ("import os", "\tos.remove('x')"), 500)


def draw(snapshot: Snapshot, context: PanelContext) -> list[Request]:
    context.show(QUESTION)
    return list(draw_trust(QUESTION, context))


@pytest.mark.parametrize("name, trusted", [("trust/folder", True), ("trust/refuse", False)])
def test_each_button_answers_once(bench: Bench, name: str, trusted: bool) -> None:
    assert bench.click(name, draw, fakes.snapshot()) == [AnswerTrust(trusted)]


def test_escape_refuses_and_enter_and_space_do_nothing(bench: Bench) -> None:
    io, snapshot = imgui.get_io(), fakes.snapshot()
    for _ in range(3):
        bench.frame(draw, snapshot)
    answers = {}
    for key in (imgui.Key.enter, imgui.Key.space, imgui.Key.escape):
        got: list[Request] = []
        for down in (True, False):
            io.add_key_event(key, down)
            got += bench.frame(draw, snapshot) + bench.frame(draw, snapshot)
        answers[key] = got
    assert answers == {
        imgui.Key.enter: [], imgui.Key.space: [], imgui.Key.escape: [AnswerTrust(trusted=False)],
    }  # fmt: skip


@pytest.fixture(autouse=True)
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOLONOMY_CONFIG", str(tmp_path / "settings"))


def test_the_question_shows_the_file_that_the_scene_would_run(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    file, scene = tmp_path / "evil.py", tmp_path / "inner" / "own.toml"
    file.write_text("raise SystemExit  # run\n" + "\x1b[31m\n" * 1000)
    scene.write_text('vehicle = "../evil.py:Evil"\n')
    with pytest.raises(UntrustedFile) as refusal:
        load_scene(scene)
    assert refusal.value.file == file.resolve()
    question = question_of(str(scene), refusal.value.file)
    assert question.lines[0] == "raise SystemExit  # run"
    assert all(line.isprintable() for line in question.lines)
    assert (len(question.lines), question.line_count) == (SHOWN_LINES, 1001)


def test_the_question_calls_a_dropped_controller_no_scene(tmp_path: Path) -> None:
    file = tmp_path / "lift.py"
    file.write_text("import sim\n")
    assert question_of(str(file), file.resolve()).why == "What you open is"
    assert question_of("own.toml", file.resolve()).why == "The scene own.toml asks for"


def test_the_word_for_one_file_is_none_for_another(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    for name in ("evil", "other"):
        (tmp_path / f"{name}.py").write_text(f"raise SystemExit  # {name}\n")
    scene = tmp_path / "inner" / "own.toml"
    scene.write_text('vehicle = "../evil.py:Evil"\n')
    with pytest.raises(UntrustedFile):
        load_scene(scene, trusted=(tmp_path / "other.py").resolve())
    with pytest.raises(InputError, match=r"evil\.py"):
        load_scene(scene, trusted=(tmp_path / "evil.py").resolve())


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"x" * (1 << 21)], ids=["encoding", "large"])
def test_a_file_that_cannot_be_shown_cannot_be_trusted(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "evil.py").write_bytes(content)
    with pytest.raises(InputError, match=r"evil\.py"):
        question_of("own.toml", tmp_path / "evil.py")
