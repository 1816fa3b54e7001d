"""A model's file may come from anywhere: it is drawn, or refused in one line."""

import os
import random
from pathlib import Path

import pytest

from sim.models.asset import load_asset
from sim.platform.errors import InputError
from tests.sim.test_damaged_files import SEED, mutated_bytes

MODEL = Path(__file__).resolve().parents[2] / "assets" / "vehicles" / "rigid-body" / "model.glb"


def answer(path: Path) -> str:
    told = ""
    try:
        load_asset(path)
    except InputError as refusal:
        told = str(refusal)
    assert told == "" or (told.isprintable() and told.startswith(str(path)))
    return told


def test_a_damaged_model_is_refused_in_one_line(tmp_path: Path) -> None:
    path, rng, whole = tmp_path / "model.glb", random.Random(SEED), MODEL.read_bytes()
    text_end = 20 + int.from_bytes(whole[12:16], "little")
    refused = 0
    for k in range(300):
        head = whole[:text_end]
        path.write_bytes(mutated_bytes(head, rng) + whole[text_end:] if k % 2 else mutated_bytes(whole, rng))
        refused += bool(answer(path))
    assert refused > 100


@pytest.mark.parametrize(
    "content", [b"", b"glTF", b"{}", b"\0" * 100, b"glTF\2\0\0\0\xff\xff\xff\xff\xff\xff\xff\xffJSON"]
)
def test_what_is_no_model_is_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "model.glb"
    path.write_bytes(content)
    assert answer(path)


def test_a_pipe_is_no_model(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "model.glb")
    assert "is no ordinary file" in answer(tmp_path / "model.glb")
