"""What the README shows is true of the code."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import app
from sim.scene import load_scene

ROOT = Path(app.__file__).resolve().parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_scripting_examples_run_one_after_the_other_as_they_stand(
    capsys: pytest.CaptureFixture[str],
) -> None:
    names = {"__name__": "readme"}
    for example in re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL):
        exec(compile(example, "README.md", "exec"), names)
    printed = capsys.readouterr().out
    assert "variational 2" in printed
    assert "rk4 4" in printed
    assert "(1001, 200)" in printed


def test_the_scene_keys_documented_are_the_keys_that_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "sim.platform.errors._NAMES_CHARACTERS", 10_000
    )  # a refusal names all of them, however many
    text = (ROOT / "docs" / "scenes.md").read_text(encoding="utf-8")
    top = text.split("## `[world]`")[0]
    documented = set(re.findall(r"^\| `(\w+)`", top, flags=re.MULTILINE))
    documented |= set(re.findall(r"^## `\[+(\w+)", text, flags=re.MULTILINE))
    monkeypatch.chdir(tmp_path)  # a long path would have the line shortened
    Path("odd.toml").write_text("nothing = 1\n")
    with pytest.raises(ValueError, match="allowed: ") as caught:
        load_scene("odd.toml")
    allowed = set(str(caught.value).split("allowed: ")[1].split(", "))
    assert documented == allowed


def test_the_keys_shown_are_the_keys_of_the_app() -> None:
    command = [sys.executable, str(ROOT / "scripts" / "keys_table.py")]
    table = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    assert table in README
    assert table.count("\n") > 20
