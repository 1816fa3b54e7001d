"""Whatever is in a file that a user brings, it is read or refused in one line, within bounded time and memory."""

import io
import json
import os
import random
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import sim
import sim.platform.user_files
from sim.planner import Goal, Limits, Sphere
from sim.planner.result.store import load_record, save_record
from sim.platform.errors import MOST_CHARACTERS, InputError
from sim.recordings import Take, load_take, save_take
from sim.recordings.file import described
from sim.scene import load_scene
from tests.sim.plan_samples import BOAT, record, task
from ui.settings.view_settings import read_scale

Read = Callable[[Path], object]
SEED = 20241
ODD = (None, True, -1, 0, 1e308, -1e-308, 10**400, 2**63, "", "x", "\ud800", "a\nb\0", [], {}, [[[]]], {"a": {}},
       float("nan"), float("inf"), [1.0] * 100, "rk4", "boat", "../x.py:Y")  # fmt: skip


def answer(read: Read, path: Path) -> str:
    """What reading says: the refusal, or nothing. Any other exception is a failure."""
    told = ""
    try:
        read(path)
    except InputError as refusal:
        told = str(refusal)
    assert told == "" or told.isprintable()
    assert len(told) <= MOST_CHARACTERS
    return told


def a_take(folder: Path) -> Path:
    run = sim.simulate("rigid-body", "rk4", step=0.05, duration=1.0, controls=np.eye(20, 6))
    return save_take(Take.of_trajectory(run), folder / "flight.npz")


def a_plan(folder: Path) -> Path:
    goal = Goal(BOAT.state(x=10.0), position="within")
    obstacles = (Sphere((1.0, 2.0, 3.0), 0.5, "ball"),)
    limits = Limits(controls={"u_left": (-10.0, 60.0)})
    return save_record(record(task=task(goal=goal, obstacles=obstacles, limits=limits)), folder)


def both(path: Path) -> object:
    """A take in full and by its header."""
    answer(described, path)
    return load_take(path)


ARCHIVES = {"take": (a_take, both, "header"), "plan": (a_plan, load_record, "about")}


def entries(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as file:
        return {name: file.read(name) for name in file.namelist()}


def packed(path: Path, members: dict[str, bytes]) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in members.items():
            file.writestr(name, data)


def as_npy(array: np.ndarray) -> bytes:
    out = io.BytesIO()
    np.save(out, array, allow_pickle=False)
    return out.getvalue()


def mutated_bytes(data: bytes, rng: random.Random) -> bytes:
    """A few bytes changed, left out, doubled, or the end cut off."""
    out = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(out) or 1)
        kind = rng.randrange(5)
        if kind == 0 and out:
            out[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            out[at:at] = rng.randbytes(rng.randint(1, 8))
        elif kind == 2:
            del out[at : at + rng.randint(1, 40)]
        elif kind == 3:
            out = out[: rng.randrange(len(out) + 1)]
        else:
            out[at:at] = out[at : at + 200]
    return bytes(out)


def mutated_value(value: object, rng: random.Random) -> object:
    """Somewhere within, something odd, something missing, or something more."""
    if isinstance(value, dict) and value and rng.random() < 0.9:
        key = rng.choice(sorted(value))
        out = dict(value)
        kind = rng.random()
        if kind < 0.15:
            del out[key]
        elif kind < 0.25:
            out[rng.choice(("x", "name", "self", "", "steps"))] = rng.choice(ODD)
        else:
            out[key] = mutated_value(value[key], rng)
        return out
    if isinstance(value, list) and value and rng.random() < 0.9:
        at = rng.randrange(len(value))
        return [mutated_value(v, rng) if k == at else v for k, v in enumerate(value)][
            : rng.choice((None, at))
        ]
    return rng.choice(ODD)


def deep(brackets: int) -> str:
    return "[" * brackets + "]" * brackets


@pytest.mark.parametrize("kind", ARCHIVES)
def test_an_archive_with_damaged_bytes_is_refused_in_one_line(kind: str, tmp_path: Path) -> None:
    make, read, _ = ARCHIVES[kind]
    path, rng = make(tmp_path), random.Random(SEED)
    whole = path.read_bytes()
    refused = 0
    for _ in range(400):
        path.write_bytes(mutated_bytes(whole, rng))
        refused += bool(answer(read, path))
    assert refused > 300


@pytest.mark.parametrize("kind", ARCHIVES)
def test_an_archive_with_damaged_arrays_is_refused_in_one_line(kind: str, tmp_path: Path) -> None:
    """Checksums hold: what has been changed is within."""
    make, read, _ = ARCHIVES[kind]
    path, rng = make(tmp_path), random.Random(SEED)
    whole = entries(path)
    refused = 0
    for _ in range(400):
        name = rng.choice(sorted(whole))
        packed(path, {**whole, name: mutated_bytes(whole[name], rng)})
        refused += bool(answer(read, path))
    assert refused > 200


@pytest.mark.parametrize("kind", ARCHIVES)
def test_an_archive_that_says_odd_things_is_refused_in_one_line(kind: str, tmp_path: Path) -> None:
    make, read, text = ARCHIVES[kind]
    path, rng = make(tmp_path), random.Random(SEED)
    whole = entries(path)
    with np.load(path) as file:
        header = json.loads(str(file[text]))
    refused = 0
    for _ in range(400):
        odd = json.dumps(mutated_value(header, rng))
        packed(path, {**whole, f"{text}.npy": as_npy(np.array(odd))})
        refused += bool(answer(read, path))
    assert refused > 200


@pytest.mark.parametrize("kind", ARCHIVES)
@pytest.mark.parametrize(
    "array",
    [
        b"\x93NUMPY\x01\x00\x76\x00{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000000,), }",
        b"\x93NUMPY\x01\x00\x76\x00{'descr': '<U999999999', 'fortran_order': False, 'shape': (), }",
        b"\x93NUMPY\x01\x00\x76\x00{'descr': '|O', 'fortran_order': False, 'shape': (1,), }",
        b"\x93NUMPY\x01\x00\xff\xff" + b"(" * 65535,
        b"\x93NUMPY\x02\x00\xff\xff\xff\xff",
        as_npy(np.array(deep(100_000))),
        as_npy(np.array("[" * 1000)),
        as_npy(np.array("9" * 5000)),
        as_npy(np.array('{"legs": ' + deep(500) + "}")),
        as_npy(np.array("1e999")),
        as_npy(np.zeros((1, 1, 1, 1))),
        as_npy(np.array([1 + 1j])),
        as_npy(np.zeros(3, "datetime64[s]")),
        b"",
    ],
)
def test_what_an_archive_declares_is_not_believed(kind: str, array: bytes, tmp_path: Path) -> None:
    make, read, _ = ARCHIVES[kind]
    path = make(tmp_path)
    whole = entries(path)
    for name in whole:
        packed(
            path,
            {
                **whole,
                name: array.ljust(128) + b"\n" if array.startswith(b"\x93NUMPY\x01\x00\x76") else array,
            },
        )
        told = answer(read, path)
        assert told.startswith(str(path)) or name in ("time.npy", "nodes.npy", "node_controls.npy")


def test_an_archive_that_inflates_without_end_is_not_inflated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = a_take(tmp_path)
    monkeypatch.setattr(sim.platform.user_files, "MOST_BYTES", 1_000_000)
    packed(path, {**entries(path), "leg0_states.npy": bytes(6_000_000)})
    assert "leg0_states.npy has 6000000 bytes; allowed: 1000000 in all" in answer(load_take, path)


def test_other_files_of_the_folder_are_listed_beside_damaged_ones(tmp_path: Path) -> None:
    good, whole = a_take(tmp_path), a_take(tmp_path).read_bytes()
    for k, content in enumerate((b"", b"PK", whole[:-1], whole[: len(whole) // 2], b"\0" * 1000)):
        (tmp_path / f"damaged{k}.npz").write_bytes(content)
    os.mkfifo(tmp_path / "pipe.npz")
    (tmp_path / "folder.npz").mkdir()
    (tmp_path / "nowhere.npz").symlink_to(tmp_path / "gone")
    readable = [path for path in sorted(tmp_path.glob("*.npz")) if not answer(described, path)]
    assert readable == [good]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names here")
@pytest.mark.parametrize("read", [load_take, load_record, load_scene], ids=["take", "plan", "scene"])
def test_a_pipe_is_refused_and_not_waited_for(read: Read, tmp_path: Path) -> None:
    path = tmp_path / "pipe.toml"
    os.mkfifo(path)
    assert "is no ordinary file" in answer(read, path)
    path.unlink()
    path.mkdir()
    told = "no scene.toml" if read is load_scene else "is no ordinary file"
    assert told in answer(read, path)


SCENES = {
    "integer of hundreds of digits": "step_s = " + "9" * 900,
    "integer of a hundred digits": "[world]\nseed = " + "9" * 110,
    "integer of a million hexadecimal digits": "step_s = 0x" + "f" * 10**6,
    "nested brackets": "x = " + deep(5000),
    "nested tables": "x = " + "{a = " * 5000 + "1" + "}" * 5000,
    "key of many parts": "a." * 100_000 + "a = 1",
    "key of many quoted parts": '"a".' * 100_000 + "a = 1",
    "table of many parts": "[" + "a." * 100_000 + "a]",
    "many tables": "[[lanes]]\n" * 90_000,
    "long text": 'title = "' + "x" * 10**6 + '"',
    "long key": '"' + "x" * 10**6 + '" = 1',
    "key with line breaks": '"a\\nb" = 1',
    "large file": "#" * 3_000_000,
    "file with a zero in its name": 'vehicle = "a\\u0000.py:X"',
    "file with a long name": f'vehicle = "{"a" * 5000}.py:X"',
    "parameter beyond all numbers": "[parameters.helicopter]\nmass = " + "9" * 120,
    "no UTF-8": b"title = '\xff'",
}  # fmt: skip


@pytest.mark.parametrize("case", SCENES)
def test_an_absurd_scene_is_refused_shortly(case: str, tmp_path: Path) -> None:
    path, content = tmp_path / "odd.toml", SCENES[case]
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    assert answer(load_scene, path).startswith(str(path))


def test_a_scene_with_damaged_bytes_is_read_or_refused(tmp_path: Path) -> None:
    path, rng = tmp_path / "odd.toml", random.Random(SEED)
    wholes = [p.read_bytes() for p in sorted((Path(sim.__file__).parent.parent / "scenes").glob("*.toml"))]
    refused = 0
    for _ in range(600):
        path.write_bytes(mutated_bytes(rng.choice(wholes), rng))
        refused += bool(answer(load_scene, path))
    assert 100 < refused < 600


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "3", '{"scale": "big"}', '{"scale": 400}', '{"scale": NaN}', '{"scale": [1.5]}', deep(100_000),
     '{"scale": ' + "9" * 400 + "}", '{"scale": ' + "9" * 5000 + "}", '{"scale": {"scale": 1.5}}', " " * 2_000_000],
)  # fmt: skip
def test_damaged_settings_are_set_aside(text: str, tmp_path: Path) -> None:
    (tmp_path / "interface.json").write_text(text)
    assert read_scale(tmp_path) == 1.0
    assert [path.name for path in tmp_path.iterdir()] == ["interface.json.damaged"]


@pytest.mark.parametrize(
    "name", ["a" * 5000, "a" * 5000 + ".toml", "a/" * 3000, "a\0b", "\ud800", "\ud800.toml", "", "."]
)
def test_a_scene_that_no_system_can_look_for_is_not_there(name: str) -> None:
    with pytest.raises(InputError):
        load_scene(name)


@pytest.mark.parametrize(
    ("reference", "told"),
    [
        ("hover.py:Hover", ("hover.py", "Hover")),
        ("hover.py", ("hover.py", "")),
        ("hover.py:", ("hover.py", "")),
        (r"C:\mine\hover.py", (r"C:\mine\hover.py", "")),
        (r"C:\mine\hover.py:Hover", (r"C:\mine\hover.py", "Hover")),
        ("../a:b/hover.py:Hover", ("../a:b/hover.py", "Hover")),
    ],
)
def test_a_class_stands_behind_the_last_colon_and_drives_before_the_first(reference, told):
    assert sim.platform.user_files.file_and_class(reference) == told
