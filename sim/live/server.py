"""A server beside a running simulation: other programs of this user give commands and get snapshots."""

import dataclasses
import hmac
import logging
import socket
import threading
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from concurrent.futures import TimeoutError as TooLate
from contextlib import ExitStack, suppress
from http import HTTPStatus
from time import monotonic
from types import TracebackType
from typing import Any, Protocol, Self

import msgspec

import sim.commands
from sim.live.wire import ANSWER_S, MOST_BYTES, OPENED_S, PROTOCOL, announced, decode, encode
from sim.platform.errors import InputError, one_of, quote, shortened
from sim.scene import scene_names
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
_LOG = logging.getLogger(__name__)
_LINKS = logging.getLogger(f"{__name__}.links")
_LINKS.setLevel(logging.CRITICAL)
"""Of the library below, which tells every link that breaks, and some with a trace."""
_TOKEN = f"{PROTOCOL}.token."
MOST_CLIENTS = 8
SLOWEST_S, FASTEST_S = 10.0, 1e-3
"""Between two snapshots of a stream."""
UNREAD_S = 30.0
"""After which a client that takes nothing of what it is sent is let go."""
PARTING_S = 1.0
"""For which clients are waited for as the server is closed: who does not read cannot be told."""
_ON_THE_WAY_BYTES = 1 << 16
"""That the system keeps for a client which does not read: what it gets then is not old."""


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
    picture: bool = False


class _Scene(msgspec.Struct, tag_field="ask", tag="scene"):
    id: int


_Request = _Do | _Look | _Open | _Stream | _Scene


class Page(Protocol):
    """What a browser gets."""

    def text(self, port: int) -> bytes:
        """The page for this port, with nothing of the simulation in it."""

    def scene(self, snapshot: Snapshot) -> dict[str, object]:
        """What pictures are made of. Raises InputError."""

    def picture(self, snapshot: Snapshot) -> dict[str, object]:
        """Where everything is. Raises InputError."""


class Server:
    """Listens on this computer alone until it is closed; every client has a thread of its own."""

    def __init__(
        self,
        simulation: Callable[[], Simulation],
        open_scene: Callable[[str], Future[None]],
        *,
        port: int = 0,
        page: Page | None = None,
    ) -> None:
        """`simulation`: the present one. `open_scene`: called from a client's thread; done once the scene is flown,
        or with the InputError that refuses it. port: 0 takes a free one. page: for browsers.

        Raises InputError where websockets is missing or the port is taken.
        """
        try:
            from websockets.sync.server import serve
        except ImportError:
            raise InputError(
                '--listen: needs websockets, which is not there; allowed: pip install "holonomy[live]"'
            ) from None
        self._simulation, self._open_scene, self._page = simulation, open_scene, page
        self._served, self._places = set[Any](), threading.Lock()
        with ExitStack() as made:
            try:
                server = serve(
                    self._serve, "127.0.0.1", port, max_size=MOST_BYTES, process_request=self._admit,
                    select_subprotocol=_chosen, compression=None, logger=_LINKS,
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
        late = threading.Timer(PARTING_S, self._cut)
        late.start()
        try:
            self._open.close()
        finally:
            late.cancel()
        self._thread.join()

    def _cut(self) -> None:
        """Every connection, without a word: else a send that nobody takes keeps its thread."""
        with self._places:
            for connection in self._served:
                with suppress(OSError):
                    connection.socket.shutdown(socket.SHUT_RDWR)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _admit(self, connection: Any, request: Any) -> Any:
        """None, or the answer that refuses who has no token, means another host or comes from another's page."""
        own = [f"127.0.0.1:{self.port}", f"localhost:{self.port}"]
        hosts, origins = request.headers.get_all("Host"), request.headers.get_all("Origin")
        if len(hosts) != 1 or hosts[0] not in own:
            return connection.respond(HTTPStatus.BAD_REQUEST, "another host\n")
        if origins and (len(origins) > 1 or origins[0] not in [f"http://{host}" for host in own]):
            return connection.respond(HTTPStatus.FORBIDDEN, "another page\n")
        if "Upgrade" not in request.headers:
            return self._document(connection, request.path)
        given = request.headers.get_all("Authorization")
        # A browser cannot say that: its page tells the token as a protocol.
        given += [f"Bearer {name[len(_TOKEN) :]}" for name in _protocols(request) if name.startswith(_TOKEN)]
        expected = f"Bearer {self._token}".encode()
        if len(given) != 1 or not hmac.compare_digest(given[0].encode("utf-8", "replace"), expected):
            return connection.respond(HTTPStatus.UNAUTHORIZED, "the token is in live.json\n")
        self._give_place(connection)
        return None

    def _give_place(self, connection: Any) -> None:
        """Before the client hears that it is connected, so that places go in the order of connecting; none is held by
        a client that has said that it leaves, however long its thread still takes."""
        from websockets.protocol import State

        with self._places:
            self._served = {other for other in self._served if other.state < State.CLOSING}
            if len(self._served) < MOST_CLIENTS:
                self._served.add(connection)

    def _document(self, connection: Any, path: str) -> Any:
        """The page for browsers, in which there is nothing that one would need a token for."""
        if self._page is None or path != "/":
            return connection.respond(HTTPStatus.NOT_FOUND, "nothing\n")
        answer = connection.respond(HTTPStatus.OK, "")
        answer.body = self._page.text(self.port)
        for name, value in (
            ("Content-Type", "text/html; charset=utf-8"),
            ("Content-Length", str(len(answer.body))),
            ("Cache-Control", "no-store"),
            ("Referrer-Policy", "no-referrer"),
            ("X-Frame-Options", "DENY"),
        ):
            if name in answer.headers:
                del answer.headers[name]
            answer.headers[name] = value
        return answer

    def _serve(self, connection: Any) -> None:
        """One client's thread."""
        from websockets.exceptions import ConnectionClosed

        if connection not in self._served:
            connection.close(1013, f"{MOST_CLIENTS} programs are connected")
            return
        try:
            connection.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _ON_THE_WAY_BYTES)
            connection.socket.settimeout(UNREAD_S)
            self._talk(connection)
        except (ConnectionClosed, OSError):
            pass
        except Exception:
            _LOG.exception("a client")
        finally:
            with self._places:
                self._served.discard(connection)

    def _talk(self, connection: Any) -> None:
        """Requests one after the other, between them a stream's snapshots: always the latest, none is queued; how many
        were due before it and not sent is told with it."""
        every_s, due_s, seen = 0.0, 0.0, self._values
        while True:
            wait_s = max(due_s - monotonic(), 0.0) if every_s else None
            try:
                data = connection.recv(wait_s)
            except TimeoutError:
                skipped = int(max(monotonic() - due_s, 0.0) / every_s)
                due_s += (skipped + 1) * every_s
                connection.send(encode(seen() | {"skipped": skipped}))
                continue
            answer: dict[str, object] = {"id": None}
            try:
                request = _read(data)
                answer["id"] = request.id
                if isinstance(request, _Stream):
                    every_s = _checked_rate(request.every_s)
                    due_s = monotonic()
                    seen = self._picture if request.picture else self._values
                    answer["message"] = f"every {every_s:g} s" if every_s else "the stream has ended"
                else:
                    answer |= self._carry_out(request)
            except InputError as refusal:
                answer["error"] = str(refusal)
            connection.send(encode(answer))

    def _values(self) -> dict[str, object]:
        return {"snapshot": values_of(self._simulation().snapshot)}

    def _picture(self) -> dict[str, object]:
        """One line where there is none."""
        try:
            return {"picture": self._shown().picture(self._simulation().snapshot)}
        except InputError as error:
            return {"error": str(error)}

    def _shown(self) -> Page:
        if self._page is None:
            raise InputError("no page is served; allowed: values")
        return self._page

    def _carry_out(self, request: _Do | _Look | _Open | _Scene) -> dict[str, object]:
        """What answers it. Raises InputError."""
        match request:
            case _Look():
                return self._values()
            case _Scene():
                return {"scene": self._shown().scene(self._simulation().snapshot)}
            case _Open(scene=scene):
                known = (*scene_names(), self._simulation().snapshot.scene)
                if scene not in known:
                    raise InputError(f"unknown scene {quote(scene)}; allowed: {one_of(known, scene)}")
                try:
                    self._open_scene(scene).result(OPENED_S)
                except CancelledError:
                    raise InputError(f"{scene} is not opened: the window listens no more") from None
                except TooLate:
                    raise InputError(f"{scene} is not there after {OPENED_S:g} s") from None
                return {"message": f"{scene} is opened"}
            case _Do(command=name, fields=fields, look=look):
                simulation = self._simulation()
                answered: Future[Snapshot] = simulation.ask(_command(name, fields))
                try:
                    seen = answered.result(ANSWER_S)
                except TooLate:
                    raise InputError(f"{name}: no answer within {ANSWER_S:g} s") from None
                except CancelledError:
                    raise InputError(f"{name}: the scene was left meanwhile; allowed: to ask again") from None
                answer = {"message": seen.message, "time_s": seen.clock_s}
                return answer | {"snapshot": values_of(seen)} if look else answer


def _protocols(request: Any) -> list[str]:
    """That a client offers."""
    offered = request.headers.get_all("Sec-WebSocket-Protocol")
    return [name.strip() for line in offered for name in line.split(",")]


def _chosen(_connection: Any, offered: Any) -> Any:
    """A browser wants one of those that it has offered to be chosen."""
    return PROTOCOL if PROTOCOL in offered else None


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
