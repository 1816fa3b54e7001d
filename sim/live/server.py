"""A server beside a running simulation: other programs of this user give commands and get snapshots."""

import dataclasses
import hmac
import threading
import time
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from concurrent.futures import TimeoutError as TooLate
from contextlib import ExitStack
from http import HTTPStatus
from types import TracebackType
from typing import Any, Self

import msgspec

import sim.commands
from sim.live.wire import MOST_BYTES, announced, decode, encode
from sim.platform.errors import InputError, one_of, quote, shortened
from sim.simulation import Simulation
from sim.simulation.lanes.snapshot import LaneSnapshot, Snapshot

COMMANDS: dict[str, type] = {
    kind.__name__: kind
    for kind in (
        sim.commands.SetPilotInput,
        sim.commands.SetControls,
        sim.commands.SetFlightMode,
        sim.commands.SetDemo,
        sim.commands.SetPaused,
        sim.commands.SingleStep,
        sim.commands.SetSpeed,
        sim.commands.Reset,
        sim.commands.SetParameter,
        sim.commands.SetIntegrator,
        sim.commands.SetStep,
        sim.commands.AddLane,
        sim.commands.RemoveLane,
        sim.commands.SetLanePilot,
        sim.commands.SetReference,
        sim.commands.Scrub,
        sim.commands.BackToNow,
        sim.commands.Retake,
        sim.commands.StopPlan,
    )
}
"""What may be asked for: nothing here reads a file or runs a program."""
MOST_CLIENTS = 8
ANSWER_S = 30.0
"""After which a command that is not carried out is given up."""
SLOWEST_S, FASTEST_S = 10.0, 1e-3
"""Between two snapshots of a stream."""


class _Do(msgspec.Struct, tag_field="ask", tag="do"):
    id: int
    command: str
    fields: dict[str, Any] = {}
    look: bool = False


class _Look(msgspec.Struct, tag_field="ask", tag="look"):
    id: int


class _Open(msgspec.Struct, tag_field="ask", tag="open"):
    id: int
    scene: str


class _Stream(msgspec.Struct, tag_field="ask", tag="stream"):
    id: int
    every_s: float


_Request = _Do | _Look | _Open | _Stream


class Server:
    """Listens on this computer alone until it is closed; every client has a thread of its own."""

    def __init__(
        self,
        simulation: Callable[[], Simulation],
        open_scene: Callable[[str], None],
        *,
        port: int = 0,
    ) -> None:
        """`simulation`: the present one. `open_scene`: called from a client's thread. port: 0 takes a free one.

        Raises InputError where websockets is missing or the port is taken.
        """
        try:
            from websockets.sync.server import serve
        except ImportError:
            raise InputError(
                '--listen: needs websockets, which is not there; allowed: pip install "holonomy[live]"'
            ) from None
        self._simulation, self._open_scene = simulation, open_scene
        self._places = threading.BoundedSemaphore(MOST_CLIENTS)
        with ExitStack() as made:
            try:
                # A page in a browser sends its origin, and is refused.
                server = serve(
                    self._serve, "127.0.0.1", port, origins=[None], max_size=MOST_BYTES,
                    process_request=self._admit, compression=None,
                )  # fmt: skip
                made.callback(server.shutdown)
                self.port: int = server.socket.getsockname()[1]
                self._token = made.enter_context(announced(self.port))
            except OSError as error:
                raise InputError(f"--listen: port {port} is refused: {error.strerror or error}") from None
            self._thread = threading.Thread(target=server.serve_forever, name="live", daemon=True)
            self._thread.start()
            self._open = made.pop_all()

    def close(self) -> None:
        """Let go of all clients, and of the file that names port and token."""
        self._open.close()
        self._thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _admit(self, connection: Any, request: Any) -> Any:
        """None, or the answer that refuses who has no token or means another host."""
        hosts = request.headers.get_all("Host")
        if hosts not in ([f"127.0.0.1:{self.port}"], [f"localhost:{self.port}"]):
            return connection.respond(HTTPStatus.BAD_REQUEST, "another host\n")
        given = request.headers.get_all("Authorization")
        expected = f"Bearer {self._token}".encode()
        if len(given) != 1 or not hmac.compare_digest(given[0].encode("utf-8", "replace"), expected):
            return connection.respond(HTTPStatus.UNAUTHORIZED, "the token is in live.json\n")
        return None

    def _serve(self, connection: Any) -> None:
        """One client's thread."""
        from websockets.exceptions import ConnectionClosed

        if not self._places.acquire(blocking=False):
            connection.close(1013, f"{MOST_CLIENTS} programs are connected")
            return
        try:
            self._talk(connection)
        except ConnectionClosed:
            pass
        finally:
            self._places.release()

    def _talk(self, connection: Any) -> None:
        """Requests one after the other, between them a stream's snapshots: always the latest, none is queued."""
        every_s, due_s = 0.0, 0.0
        while True:
            wait_s = max(due_s - time.monotonic(), 0.0) if every_s else None
            try:
                data = connection.recv(wait_s)
            except TimeoutError:
                connection.send(encode({"snapshot": values_of(self._simulation().snapshot)}))
                due_s = time.monotonic() + every_s
                continue
            answer: dict[str, object] = {"id": None}
            try:
                request = _read(data)
                answer["id"] = request.id
                if isinstance(request, _Stream):
                    every_s = _checked_rate(request.every_s)
                    due_s = time.monotonic()
                    answer["message"] = f"every {every_s:g} s" if every_s else "the stream has ended"
                else:
                    answer |= self._carry_out(request)
            except InputError as refusal:
                answer["error"] = str(refusal)
            connection.send(encode(answer))

    def _carry_out(self, request: _Do | _Look | _Open) -> dict[str, object]:
        """What answers it. Raises InputError."""
        match request:
            case _Look():
                return {"snapshot": values_of(self._simulation().snapshot)}
            case _Open(scene=scene):
                self._open_scene(scene)
                return {"message": f"{scene} is opened"}
            case _Do(command=name, fields=fields, look=look):
                simulation = self._simulation()
                answered: Future[Snapshot] = simulation.ask(_command(name, fields))
                try:
                    seen = answered.result(ANSWER_S)
                except (TooLate, CancelledError):
                    raise InputError(f"{name}: no answer within {ANSWER_S:g} s") from None
                answer = {"message": seen.message, "time_s": seen.clock_s}
                return answer | {"snapshot": values_of(seen)} if look else answer


def _read(data: bytes | str) -> _Request:
    if isinstance(data, str):
        raise InputError("a text is refused; allowed: binary messages of msgpack")
    try:
        return msgspec.convert(decode(data), _Request)
    except msgspec.ValidationError as error:
        raise InputError(f"no request: {shortened(str(error))}") from None


def _command(name: str, fields: dict[str, Any]) -> sim.commands.Command:
    if name not in COMMANDS:
        raise InputError(f"unknown command {quote(name)}; allowed: {one_of(COMMANDS, name)}")
    try:
        known = [field.name for field in dataclasses.fields(COMMANDS[name])]
        for field in fields:
            if field not in known:
                raise InputError(f"{name}: unknown field {quote(field)}; allowed: {one_of(known, field)}")
        return msgspec.convert({k: _plain(v) for k, v in fields.items()}, COMMANDS[name])
    except msgspec.ValidationError as error:
        raise InputError(f"{name}: {shortened(str(error))}") from None


def _plain(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else value


def _checked_rate(every_s: float) -> float:
    if every_s == 0.0 or FASTEST_S <= every_s <= SLOWEST_S:
        return every_s
    raise InputError(f"every_s = {every_s} is refused; allowed: 0, or {FASTEST_S:g} to {SLOWEST_S:g}")


def values_of(snapshot: Snapshot) -> dict[str, object]:
    """A snapshot as it is sent: SI units, world frame with z up, body frames with x forward and y left."""
    return {
        "scene": snapshot.scene,
        "time_s": snapshot.clock_s,
        "paused": snapshot.paused,
        "speed": snapshot.speed,
        "flight_mode": snapshot.flight_mode,
        "message": snapshot.message,
        "lanes": [_lane(lane) for lane in snapshot.lanes],
    }


def _lane(lane: LaneSnapshot) -> dict[str, object]:
    return {
        "name": lane.name,
        "vehicle": lane.vehicle,
        "integrator": lane.integrator,
        "step_s": lane.step_s,
        "ghost": lane.ghost,
        "time_s": lane.time_current_s,
        "bodies": dict(lane.bodies),
        "twist_b": lane.twist_b,
        "shape": lane.shape,
        "controls": lane.controls,
        "energy_J": lane.energy_J,
        "momentum_w": lane.momentum_w,
        "on_ground": lane.on_ground,
        "status": lane.status.value,
        "status_text": lane.status_text,
        "parameters": dict(lane.parameters),
        "observables": dict(lane.observables),
    }
