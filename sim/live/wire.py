"""What goes between a running window and another program: msgpack with arrays, and where the two find each other.

Requests and answers are maps in binary messages of a WebSocket. A request has a number `id`, which its answer repeats:

| `ask` | further entries | the answer has |
|---|---|---|
| `do` | `command`, `fields`, `look` | `message`, `time_s`; with `look` also `snapshot` |
| `look` | | `snapshot` |
| `open` | `scene` | `message` |
| `stream` | `every_s` (0 ends it), `picture` | `message`; then without `id` messages with `snapshot` or `picture` |
| `scene` | | `scene`: what pictures are made of, for the page in a browser (`export/page.py`) |

Each message of a stream has `skipped`: how many were due before it and not sent, as reader or machine was late. What
cannot be is answered by `error`, one line. What opens a scene is answered once it is flown. An array is an extension
of type 1: msgpack of its type as NumPy writes it ("<f8"), its shape and its bytes.
"""

import contextlib
import json
import math
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from sim.platform.errors import InputError, quote
from sim.platform.user_files import config_folder

ARRAY = 1
TYPES = ("<f8", "<f4", "<i8", "<i4", "|b1")
PROTOCOL = "holonomy"
"""Of the WebSocket, for clients that have to offer one; a browser also offers `holonomy.token.` and the token."""
MOST_BYTES = 1 << 20
"""Of a message."""
ANSWER_S, OPENED_S = 30.0, 300.0
"""After which the window gives up a command that is not carried out, and a scene that is not there."""
FILE, PAGE = "live.json", "live.html"
"""In the user's configuration folder, for the user's eyes only: port and token of the window that listens, and what
leads a browser to its page."""


def encode(value: object) -> bytes:
    """A message of maps, lists, numbers, texts and arrays."""
    return _ENCODER.encode(value)


def decode(data: bytes) -> Any:
    """What a message holds. Raises InputError for bytes that hold none."""
    try:
        return _DECODER.decode(data)
    except (msgspec.MsgspecError, ValueError, TypeError, RecursionError, OverflowError) as error:
        raise InputError(f"no message: {error}") from None


def _out(value: object) -> object:
    if isinstance(value, np.ndarray):
        array = np.asarray(value, order="C")
        whole = array.astype(array.dtype.newbyteorder("<"), copy=False)
        return msgspec.msgpack.Ext(ARRAY, _PLAIN.encode((whole.dtype.str, whole.shape, whole.tobytes())))
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{type(value).__name__} is not sent")


def _in(code: int, data: memoryview) -> object:
    if code != ARRAY:
        raise ValueError(f"extension {code} is unknown")
    kind, shape, values = _ARRAY.decode(data)
    if kind not in TYPES or any(n < 0 for n in shape):
        raise ValueError(f"an array of {quote(kind)} is refused; allowed: {', '.join(TYPES)}")
    if len(values) != math.prod(shape) * np.dtype(kind).itemsize:
        raise ValueError(f"an array of shape {shape} has {len(values)} bytes")
    return np.frombuffer(values, kind).reshape(shape).copy()


_PLAIN = msgspec.msgpack.Encoder()
_ENCODER = msgspec.msgpack.Encoder(enc_hook=_out)
_DECODER = msgspec.msgpack.Decoder(ext_hook=_in)
_ARRAY = msgspec.msgpack.Decoder(tuple[str, tuple[int, ...], bytes])


@contextmanager
def announced(port: int) -> Iterator[str]:
    """Within, the user's programs find the port and the token, which is given; nobody else may read them.

    Raises OSError where the file cannot be written.
    """
    token = secrets.token_hex(16)
    folder = config_folder()
    page = page_file()
    place = f"http://127.0.0.1:{port}/#{token}"
    _put(folder / FILE, json.dumps({"port": port, "token": token}))
    _put(page, f'<!doctype html><meta http-equiv="refresh" content="0; url={place}">')
    try:
        yield token
    finally:
        with contextlib.suppress(OSError, ValueError):
            if json.loads((folder / FILE).read_text(encoding="utf-8"))["token"] == token:
                (folder / FILE).unlink()
        with contextlib.suppress(OSError):
            if token in (page).read_text(encoding="utf-8"):
                (page).unlink()


def page_file() -> Path:
    """What leads a browser to the page of the window that listens."""
    return config_folder() / PAGE


def _put(path: Path, text: str) -> None:
    """A whole file that only the user can read."""
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    with contextlib.suppress(OSError):
        draft.unlink()
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)
    os.replace(draft, path)


def found() -> tuple[int, str]:
    """Port and token of the window that listens. Raises InputError where there is none."""
    path = config_folder() / FILE
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
        return int(told["port"]), str(told["token"])
    except (OSError, ValueError, KeyError, TypeError):
        raise InputError("no window listens; allowed: to start one with --listen, then to connect") from None
