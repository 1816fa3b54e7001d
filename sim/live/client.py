"""A running window as an object: `app = sim.connect()`, from a script, a notebook, another program's Python."""

import threading
from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack, suppress
from types import TracebackType
from typing import Any, Self

import numpy as np

from sim.live.wire import ANSWER_S, MOST_BYTES, OPENED_S, decode, encode, found
from sim.platform.errors import InputError, one_of, quote

MARGIN_S = 10.0
"""For which the window is waited for beyond what it takes itself at the most."""


def connect(port: int | None = None, token: str | None = None) -> "Connection":
    """The window that was started with --listen; port and token are found where it has left them.

    Raises InputError where none listens or the token is not the window's.
    """
    return Connection(*(found() if port is None or token is None else (port, token)))


class Connection:
    """Commands down, snapshots up; for use by one thread. Commands are those of `sim.commands`, by name and fields."""

    def __init__(self, port: int, token: str) -> None:
        self._port, self._token = port, token
        self._open = ExitStack()
        self._socket = self._opened()
        self._count = 0
        self._lock = threading.Lock()

    def _opened(self) -> Any:
        try:
            from websockets.exceptions import WebSocketException
            from websockets.sync.client import connect as open_socket
        except ImportError:
            raise InputError(
                'connect: needs websockets, which is not there; allowed: pip install "holonomy[live]"'
            ) from None
        try:
            plug = open_socket(
                f"ws://127.0.0.1:{self._port}",
                additional_headers={"Authorization": f"Bearer {self._token}"},
                compression=None, max_size=64 * MOST_BYTES, proxy=None,
            )  # fmt: skip
            return self._open.enter_context(plug)
        except (OSError, WebSocketException) as error:
            raise InputError(f"no window listens at port {self._port}: {error}") from None

    def command(self, name: str, /, *, look: bool = False, **fields: object) -> dict[str, Any]:
        """Carry out one of `sim.commands`, and wait until it has been: its message, and with `look` what came of it.

        Raises InputError with the window's words where it cannot be.
        """
        return self._ask({"ask": "do", "command": name, "fields": fields, "look": look})

    def snapshot(self) -> dict[str, Any]:
        """What the window shows now."""
        return self._ask({"ask": "look"})["snapshot"]

    @property
    def lanes(self) -> list[dict[str, Any]]:
        """Of that, the lanes; the first is flown."""
        return self.snapshot()["lanes"]

    @property
    def controls(self) -> np.ndarray:
        """(n_controls,) of the flown lane, in the vehicle's order and units."""
        return self.lanes[0]["controls"]

    @controls.setter
    def controls(self, values: Sequence[float] | np.ndarray) -> None:
        """Until others are given; the hand has them back by SetFlightMode.

        They act from where controls are evaluated next: every 10 ms, or at each step that is longer; one that is longer
        has its own as soon as it begins.
        """
        self.command("SetControls", values=[float(value) for value in np.ravel(values)])

    def pause(self) -> None:
        self.command("SetPaused", paused=True)

    def resume(self) -> None:
        self.command("SetPaused", paused=False)

    def step(self, count: int = 1, controls: Sequence[float] | np.ndarray | None = None) -> dict[str, Any]:
        """Some steps of the flown lane, under these controls, then a pause: what the window shows after them."""
        if controls is not None:
            self.controls = controls
        return self.command("SingleStep", count=count, look=True)["snapshot"]

    def scene(self, name: str) -> None:
        """Have another of the project's scenes opened, and wait until it is flown. Raises InputError for a name that
        is none, and where the window opens something else."""
        self._ask({"ask": "open", "scene": name}, OPENED_S)

    def stream(self, *names: str, every_s: float = 0.02) -> Generator[Any, None, None]:
        """Snapshots as they come, the latest each time, over a connection of their own; ends with the window. Each
        tells under `skipped` how many were due before it and not sent, as reader or machine was late.

        names: of the flown lane's quantities ("energy", "controls", a body's or an observable's name); with them it is
        rows (time [s], value, ...). Raises InputError for a name that is none, and where the window has let go, as of
        who reads nothing for half a minute.
        """
        with self.another() as own:
            for seen in own._streamed(every_s):
                yield _row(seen["lanes"][0], names) if names else seen

    def another(self) -> "Connection":
        """A further connection to the same window. Raises InputError where it has gone."""
        return Connection(self._port, self._token)

    def send(self, data: bytes) -> None:
        """A request that somebody else has packed, by `sim.live.wire`. Raises InputError where the window has gone."""
        from websockets.exceptions import ConnectionClosed

        try:
            self._socket.send(data)
        except ConnectionClosed as error:
            raise InputError(f"the window has gone: {error}") from None

    def received(self) -> Iterator[bytes]:
        """Answers to what was sent so, and a stream's messages, until the connection ends."""
        from websockets.exceptions import ConnectionClosed

        with suppress(ConnectionClosed):
            while True:
                yield self._socket.recv()

    def __repr__(self) -> str:
        return f"window at port {self._port}: sim.show(...) of it shows it in a notebook's cell"

    def _streamed(self, every_s: float) -> Iterator[dict[str, Any]]:
        from websockets.exceptions import ConnectionClosed, ConnectionClosedOK

        self._ask({"ask": "stream", "every_s": every_s})
        try:
            while True:
                seen = decode(self._socket.recv())
                yield seen["snapshot"] | {"skipped": seen["skipped"]}
        except ConnectionClosedOK:
            pass
        except ConnectionClosed:
            raise InputError("the window has let go; allowed: to read on within half a minute") from None

    def close(self) -> None:
        self._open.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _ask(self, request: dict[str, object], longest_s: float = ANSWER_S) -> dict[str, Any]:
        from websockets.exceptions import ConnectionClosed

        with self._lock:
            self._count += 1
            try:
                self._socket.send(encode({"id": self._count, **request}))
                answer = decode(self._socket.recv(longest_s + MARGIN_S))
            except (ConnectionClosed, TimeoutError) as error:
                raise InputError(f"the window has gone: {error}") from None
        if "error" in answer:
            raise InputError(answer["error"])
        return answer


def _row(lane: dict[str, Any], names: Sequence[str]) -> tuple[Any, ...]:
    """Of a lane as it is sent: its time [s] and quantities by their names, with or without their units and frames."""
    short = {"energy": lane["energy_J"], "momentum": lane["momentum_w"], "twist": lane["twist_b"]}
    known = lane | short | lane["bodies"] | lane["observables"]
    for name in names:
        if name not in known:
            raise InputError(f"stream: unknown {quote(name)}; allowed: {one_of(known, name)}")
    return (lane["time_s"], *(known[name] for name in names))
