"""The simulation: a scene that runs, its commands and snapshots, in a thread of its own or stepped by hand."""

import logging
import math
import threading
from collections import deque
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import replace
from queue import Empty, SimpleQueue
from time import perf_counter

from sim.control import flight_modes
from sim.control.target_path import drawn_w
from sim.environment.environment import CoupledEnvironment
from sim.integrators import usual
from sim.platform.errors import InputError
from sim.platform.progress import TellShare
from sim.platform.values import dataclass
from sim.recordings import Take
from sim.scene import Scene
from sim.simulation.commands import (
    KEEP_LOOKING,
    AddLane,
    Command,
    FlyPlan,
    GiveUpWaiting,
    PlayTake,
    RenewVehicle,
    Resimulate,
    SetIntegrator,
    SetParameter,
    SetVehicle,
    execute,
)
from sim.simulation.lanes.kernels import Compiling, KernelStore, PendingKernel
from sim.simulation.lanes.snapshot import LaneSnapshot, Snapshot, Waiting
from sim.simulation.runs.flight_control import Autopilot
from sim.simulation.runs.scene_run import SceneRun
from sim.vehicles import Vehicle
from sim.vehicles.forms.base import Structure
from sim.world import World

_LOG = logging.getLogger(__name__)

WAKE_S = 1.0 / 120.0
RESTING_S = 1.0 / 30.0
"""The same while time stands and nothing of the past is looked at, for news of what goes on beside it: whoever wants
something rouses it."""
SHORTEST_WAIT_S = 1e-3
"""Between two wakes: the other threads get their turn, too."""
BUDGET_S = 0.03
"""Wall time after which a wake puts off what is still owed, to publish and to hear commands."""
LEFT_BEHIND_S = 20.0
"""After which nobody waits for the thread any more."""
SAMPLED_S, MOST_SAMPLES = 1.0 / 60.0, 120
"""Simulated time between two samples for curves, and how many are held for who looks seldom."""
READING_S = 0.004
"""Wall time of a wake for reading takes that are shown, as long as there is something of them to be read."""
SLICE_S = 0.02
"""Simulated time between two looks at that budget."""

SPAN_S = 0.025
"""Wall time between the two moments of a snapshot: how late a wake may be without the picture stuttering."""

_MAY_COMPILE = (SetIntegrator, SetVehicle, RenewVehicle, SetParameter, AddLane, FlyPlan, PlayTake, Resimulate)


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A command, and the kernel that it waits for."""

    command: Command
    coming: PendingKernel


class Simulation:
    """Runs a scene in a world.

    `start`, `submit`, `snapshot`, `stop` for the live application; `advance` for headless runs, which repeat
    bit for bit. The constructor compiles what the scene needs and is not in `kernels` (which it owns), and tells
    `progress`; InputError where the scene cannot work.
    """

    def __init__(
        self,
        scene: Scene,
        world: World,
        *,
        progress: TellShare | None = None,
        kernels: KernelStore | None = None,
        environment: CoupledEnvironment | None = None,
    ) -> None:
        """`environment`: something that moves, to which the flown lane is coupled."""
        self._kernels = kernels or KernelStore()
        self.run = SceneRun(scene, world, self._kernels, progress, environment)
        """What is simulated; to be looked into only while no thread runs."""
        self._queue: SimpleQueue[tuple[Command, Future[Snapshot] | None]] = SimpleQueue()
        self._asked: list[Future[Snapshot]] = []
        """Wait for the next snapshot: what they asked for has been carried out."""
        self._roused = threading.Event()
        self._waiting: list[_Waiting] = []
        self._message, self._answers = "", 0
        self._ahead: Vehicle | None = None
        """Whose usual kernels are made ready ahead."""
        self._makes_ahead = False
        self._thread: threading.Thread | None = None
        self._stopping, self._stopped = threading.Event(), False
        self._samples: deque[tuple[LaneSnapshot, ...]] = deque(maxlen=MOST_SAMPLES)
        self.snapshot: Snapshot = self._picture()
        """The latest; replaced as a whole, so any thread may read it at any time."""

    def submit(self, command: Command) -> None:
        """Ask for something, from any thread. Carried out between two steps; `snapshot.message` answers."""
        self._queue.put((command, None))

    def ask(self, command: Command) -> Future[Snapshot]:
        """Ask for something, from any thread, and wake the simulation for it; gives the snapshot that follows.

        The future has the InputError that refuses the command; it is cancelled where the simulation is stopped.
        """
        answer: Future[Snapshot] = Future()
        self._queue.put((command, answer))
        self._roused.set()
        if self._stopped:  # after its queue was emptied
            self._let_go()
        return answer

    @property
    def runs(self) -> bool:
        """In its thread, from `start` to `stop`."""
        return self._thread is not None

    def start(self, *, ahead: bool = False) -> None:
        """Run in real time in a thread of its own, until `stop`.

        ahead: kernels that are likely to be asked for are made ready meanwhile, in processes that stand back.
        """
        if self._thread is not None:
            raise RuntimeError("the simulation runs already")
        self._kernels.work_in_background()
        self._makes_ahead, self._ahead = ahead, None
        self._stopping.clear()
        self._stopped = False
        self._thread = threading.Thread(target=self._run, name="simulation", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End the thread and wait for it; harmless where none runs.

        One that a call of a user's keeps is left behind: it ends with that call, or with the program.
        """
        self._stopping.set()
        self._roused.set()
        if self._thread is not None:
            self._thread.join(LEFT_BEHIND_S)
            if self._thread.is_alive():
                _LOG.warning("the simulation has not ended within %g s, and is left behind", LEFT_BEHIND_S)
        self._thread, self._stopped = None, True
        self._let_go()
        self._kernels.close()

    def _let_go(self) -> None:
        """Of all that waits to be carried out."""
        with suppress(Empty):
            while True:
                _, answer = self._queue.get_nowait()
                if answer is not None:
                    answer.cancel()

    def takes(self) -> tuple[Take, ...]:
        """All that was flown and is remembered, the latest last. Only while no thread runs."""
        if self._thread is not None:
            raise RuntimeError("the simulation runs in its thread")
        self.run.rewind.put_away()
        return self.run.rewind.former

    def advance(self, seconds: float) -> Snapshot:
        """Carry out what was submitted, then move on by simulated seconds, unless paused.

        Without thread and wall clock: equal commands and times give equal bits, however the time is divided.
        """
        if self._thread is not None:
            raise RuntimeError("the simulation runs in its thread")
        if not (math.isfinite(seconds) and seconds >= 0.0):
            raise InputError(f"{seconds} seconds are refused; allowed: 0 or more")
        self._obey()
        if not self.run.clock.paused:
            self.run.advance(seconds)
        self.run.rewind.read(math.inf)
        self._show(self._picture())
        return self.snapshot

    def _show(self, picture: Snapshot) -> None:
        """Publish it, to those first who wait for it."""
        self.snapshot = picture
        asked, self._asked = self._asked, []
        for answer in asked:
            answer.set_result(picture)

    def _run(self) -> None:
        last = perf_counter()
        while True:
            rests = self.run.clock.paused and self.run.rewind.view is None
            between_s = RESTING_S if rests else WAKE_S
            self._roused.wait(max(last + between_s - perf_counter(), SHORTEST_WAIT_S))
            self._roused.clear()
            if self._stopping.is_set():
                return
            now = perf_counter()
            try:
                self._wake(0.0 if rests else now - last)
                if self._makes_ahead:
                    self._make_ahead()
                self._show(self._picture(now))
            except Exception as error:
                _LOG.exception("simulation")
                self._message = f"internal error: {error!r}"
                self.run.clock.paused = True
                self._show(replace(self.snapshot, message=self._message, paused=True))
            last = now

    def _wake(self, wall_s: float) -> None:
        """Commands, then all steps that are due."""
        self._obey()
        clock = self.run.clock
        clock.ask(wall_s)
        began, done_s = perf_counter(), 0.0
        while clock.owed_s > 0.0 and perf_counter() - began < BUDGET_S:
            slice_s = min(clock.owed_s, SLICE_S)
            self.run.advance(slice_s)
            clock.pay(slice_s)
            done_s += slice_s
        clock.record(wall_s, done_s)
        self.run.rewind.read(READING_S)

    def _obey(self) -> None:
        """Carry out all commands, those first that waited for a kernel which is there now."""
        waiting = self._waiting
        self._waiting = [one for one in waiting if not one.coming.over]
        for one in waiting:
            if one.coming.over:
                self._carry_out(one.command)
        with suppress(Empty):
            while True:
                self._carry_out(*self._queue.get_nowait())
        self._kernels.only(one.coming for one in self._waiting)

    def _make_ahead(self) -> None:
        """The usual kernels of what is flown; other equations have others."""
        vehicle = self.run.vehicle
        if vehicle is self._ahead:
            return
        before, self._ahead = self._ahead, vehicle
        if before is None or Structure.of(before) != Structure.of(vehicle):
            each = (lane.dynamics.integrator for lane in self.run.lanes)
            self._kernels.ahead(vehicle, usual(vehicle, *each))

    def _give_up_waiting(self) -> str:
        """Nothing of what waits is done: all is as it was."""
        titles = [one.coming.title for one in self._waiting]
        self._waiting = []
        return f"given up: {'; '.join(titles)}" if titles else "nothing waits"

    def _carry_out(self, command: Command, answer: Future[Snapshot] | None = None) -> None:
        refusal = self._carried_out(command)
        if answer is not None and refusal is None:
            self._asked.append(answer)
        elif answer is not None:
            answer.set_exception(refusal)

    def _carried_out(self, command: Command) -> InputError | None:
        """Why not, where it could not be."""
        refused = None
        if isinstance(command, GiveUpWaiting):
            self._tell(self._give_up_waiting())
            return None
        if isinstance(command, _MAY_COMPILE):
            self._waiting = [one for one in self._waiting if not _overrides(command, one.command)]
        try:
            with self.run.rewind.kept_at_failure():
                if not isinstance(command, KEEP_LOOKING):
                    self.run.rewind.leave()
                message = execute(command, self.run)
        except Compiling as news:
            self._waiting.append(_Waiting(command, news.coming))
            message = str(news)  # once more where it waits for another kernel now
        except InputError as refusal:
            refused, message = refusal, str(refusal)
        except Exception as error:
            _LOG.exception("command %r", command)
            message = f"{type(command).__name__} failed: {error!r}"
            refused = InputError(message)
        self._tell(message)
        return refused

    def _tell(self, message: str) -> None:
        """Empty: what was told last stands."""
        if message:
            self._message, self._answers = message, self._answers + 1

    def _sample(self, lanes: tuple[LaneSnapshot, ...]) -> None:
        """Keep these for curves, where the last ones that were kept are far enough back, or of another run."""
        now, last = lanes[0], self._samples[-1][0] if self._samples else None
        if (
            last is None
            or now.generation != last.generation
            or now.time_current_s >= last.time_current_s + SAMPLED_S
        ):
            self._samples.append(lanes)

    def _picture(self, wall_s: float | None = None) -> Snapshot:
        """`wall_s`: the moment (`time.perf_counter()`) up to which wall time was asked for; else now."""
        run = self.run
        self._tell(run.news)
        run.news = ""
        about = run.rewind.environments()
        view, span_s = run.rewind.view, SPAN_S * run.clock.speed
        lanes, samples = run.pictures(span_s), tuple(self._samples)
        if view is None:
            self._sample(lanes)
        return Snapshot(
            scene=run.scene.name,
            lanes=lanes,
            samples=samples,
            read=run.rewind.moments,
            reference=run.comparison.on and view is None,
            accounts=run.accounts,
            clock_s=run.clock.time_s if view is None else view.time_s,
            wall_s=perf_counter() if wall_s is None else wall_s,
            paused=run.clock.paused,
            speed=run.clock.speed,
            real_time_factor=run.clock.real_time_factor,
            flight_mode=run.control.mode,
            flight_modes=flight_modes(run.vehicle),
            demo=isinstance(run.control.now, Autopilot),
            message=self._message,
            answers=self._answers,
            plan_flies=run.control.plan is not None,
            mpc=run.mpc() if view is None else None,
            plan_outcome=run.control.outcome,
            recorded_s=run.rewind.span_s,
            look_back=view,
            former=run.rewind.former,
            waiting=tuple(Waiting(one.command, one.coming.title, one.coming.job) for one in self._waiting),
            ready_ahead=self._kernels.ready_ahead,
            race=None if run.timing is None else run.timing.standing,
            layout=run.layout,
            target_path_w=None if run.target is None else drawn_w(run.target),
            environment=about.pop(run.flown.look.name, None),
            beside=about,
        )


def _overrides(new: Command, old: Command) -> bool:
    """Whether a later command makes an earlier one that still waits for its kernel pointless."""
    if isinstance(new, SetIntegrator) and isinstance(old, SetIntegrator):
        return new.lane == old.lane
    if isinstance(new, SetParameter) and isinstance(old, SetParameter):
        return new.name == old.name
    return any(isinstance(new, kind) and isinstance(old, kind) for kind in (SetVehicle, RenewVehicle))
