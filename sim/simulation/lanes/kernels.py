"""Kernels that nobody has asked for yet, made ready one after the other while nobody waits for another."""

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor

from sim.compiler import kernel_text
from sim.compiler.kernel import prepare, prepared_as
from sim.environment.environment import kind_of
from sim.integrators import INTEGRATORS, Integrator, integrators
from sim.platform.cache import can_keep
from sim.platform.errors import InputError, one_of
from sim.platform.processes import LEAST_URGENT, CacheWorkers, GivenUp
from sim.platform.progress import Board, Preparation, Tell
from sim.steppers import Stepper
from sim.steppers.dynamics import prepare_recursions, recursions_of, stepper_of
from sim.vehicles import Vehicle
from sim.vehicles.forms.base import Structure
from sim.vehicles.forms.form import TREES

FIRST_S = 2.0
"""A scene's first moments are left alone."""
_LOOK_S = 0.25


class Ahead:
    """A thread that has them made; each in a process that gives way to everything else."""

    def __init__(
        self,
        make: Callable[[str, CacheWorkers], None],
        methods: Iterable[str],
        *,
        idle: Callable[[], bool],
        first_s: float = FIRST_S,
        niceness: int = LEAST_URGENT,
    ) -> None:
        """`make(method, workers)` has one ready. `idle`: whether nobody waits for another kernel. first_s: in which
        nothing is made; niceness: of its processes."""
        self._make, self._idle, self._first_s, self._niceness = make, idle, first_s, niceness
        self._methods = list(methods)
        self._lock, self._closed = threading.Lock(), threading.Event()
        self._workers = CacheWorkers(niceness)
        self._thread = threading.Thread(target=self._run, name="kernels ahead", daemon=True)
        self._thread.start()

    @property
    def left(self) -> int:
        """How many are not ready."""
        return len(self._methods)

    def give_way(self) -> None:
        """Somebody waits for another kernel: what is being compiled is taken up again after that."""
        with self._lock:
            self._workers.close()
            self._workers = CacheWorkers(self._niceness)

    def close(self) -> None:
        """For good; what is loaded just now is loaded to its end."""
        with self._lock:
            self._closed.set()
            self._workers.close()

    def join(self) -> None:
        """Wait for that end."""
        self._thread.join()

    def _run(self) -> None:
        wait_s = self._first_s
        while self._methods and not self._closed.wait(wait_s):
            wait_s = _LOOK_S
            if self._idle():
                self._made_next()

    def _made_next(self) -> None:
        with self._lock:
            workers = self._workers
        try:
            self._make(self._methods[0], workers)
        except GivenUp:
            return
        except InputError:
            pass  # whoever asks for it is told why
        del self._methods[0]


Key = tuple[Structure, Integrator, bool]


class PendingKernel:
    """A kernel that is being compiled because somebody waits for it."""

    def __init__(self, title: str, workers: CacheWorkers | None) -> None:
        self.title, self.workers, self.board = title, workers, Board()
        self.kernel: Future[Stepper] = Future()

    @property
    def over(self) -> bool:
        """Whether it is worth asking again."""
        return self.kernel.done()

    @property
    def job(self) -> Preparation | None:
        """How far it is; None before its turn has come."""
        return next(iter(self.board.jobs), None)

    def give_up(self) -> None:
        """End its process; what is compiled within this one goes on, and nobody gets it."""
        self.kernel.cancel()
        if self.workers is not None:
            self.workers.close()


class Compiling(Exception):
    """Not there yet; the message says what is being compiled."""

    def __init__(self, message: str, coming: PendingKernel) -> None:
        super().__init__(message)
        self.coming = coming


class KernelStore:
    """Kernels by the vehicle's structure, integrator and contact."""

    def __init__(
        self, workers: CacheWorkers | None = None, make: Callable[..., Stepper] = stepper_of
    ) -> None:
        """With `workers`, which it then owns, missing kernels are compiled in processes beside this one.

        make: (vehicle, integrator, what acts within) -> the kernel, once all is there that it needs.
        """
        self._workers, self._make = workers, make
        self._symbolic = threading.Lock()
        """CasADi does not say that expressions may be built by two threads at once."""
        self._ready: dict[Key, Stepper] = {}
        self._coming: dict[Key, PendingKernel] = {}
        self._worker: ThreadPoolExecutor | None = None
        self._ahead: Ahead | None = None

    def get(
        self,
        vehicle: Vehicle,
        integrator: str | Integrator,
        contact: bool = True,
        *,
        tell: Tell | None = None,
    ) -> Stepper:
        """The kernel of a pair, with ground contact or without.

        Raises InputError where the pair cannot work. In background mode raises Compiling until it is there;
        before, threads may get several at once, each told of what is compiled for it, and GivenUp where the
        store is closed meanwhile.
        """
        method = _method(vehicle, integrator)
        key = Structure.of(vehicle), method, contact
        if key in self._ready:
            return self._ready[key]
        if self._worker is None:
            kernel = self._compiled(vehicle, method, contact, self._workers, tell)
        else:
            if key not in self._coming:
                self._coming[key] = self._begun(self._worker, vehicle, method, contact)
            coming = self._coming[key]
            if not coming.over:
                raise Compiling(f"compiling {method.name} for {vehicle.name} ...", coming)
            del self._coming[key]
            kernel = coming.kernel.result()
        self._ready[key] = kernel
        return kernel

    @property
    def coming(self) -> tuple[PendingKernel, ...]:
        """What is being compiled for somebody."""
        return tuple(self._coming.values())

    def only(self, wanted: Iterable[PendingKernel]) -> None:
        """Give up what else is being compiled for somebody: nobody waits for it any more."""
        wanted = set(wanted)
        for key in [key for key, coming in self._coming.items() if coming not in wanted]:
            self._coming.pop(key).give_up()

    def ahead(
        self,
        vehicle: Vehicle,
        methods: Iterable[str],
        *,
        first_s: float = FIRST_S,
        niceness: int = LEAST_URGENT,
    ) -> None:
        """Have the vehicle's kernels for these methods ready before they are asked for, one after the other.

        In processes of their own that stand back, while nobody waits for another; in background mode only. first_s,
        niceness: as `Ahead` has them.
        """
        if self._ahead is not None:
            self._ahead.close()
        self._ahead = None
        if self._worker is None or self._workers is None or not can_keep("done"):
            return

        def make(name: str, workers: CacheWorkers) -> None:
            method = _method(vehicle, name)
            key = Structure.of(vehicle), method, True
            if key not in self._ready and method.by_scheme(vehicle):
                self._ready[key] = self._compiled(vehicle, method, True, workers)

        self._ahead = Ahead(make, methods, idle=lambda: not self._coming, first_s=first_s, niceness=niceness)

    @property
    def ready_ahead(self) -> bool:
        """Whether all is ready that was to be before it is asked for."""
        return self._ahead is not None and not self._ahead.left

    def work_in_background(self) -> None:
        """From now on `get` never blocks."""
        if self._worker is None:
            self._worker = ThreadPoolExecutor(1, thread_name_prefix="kernels")

    def close(self) -> None:
        """Back to compiling in the caller's thread and process; what is being compiled is given up."""
        ahead, self._ahead = self._ahead, None
        if ahead is not None:
            ahead.close()
            ahead.join()
        self.only(())
        workers, self._workers = self._workers, None
        if workers is not None:
            workers.close()
        if self._worker is not None:
            self._worker.shutdown(wait=True, cancel_futures=True)
        self._worker = None

    def _begun(
        self, worker: ThreadPoolExecutor, vehicle: Vehicle, method: Integrator, contact: bool
    ) -> PendingKernel:
        """In the worker's turn, before all that nobody waits for."""
        if self._ahead is not None:
            self._ahead.give_way()
        workers = None if self._workers is None else CacheWorkers()
        coming = PendingKernel(f"Compiling the {vehicle.name} ({method.name})", workers)

        def compile_it() -> None:
            if not coming.kernel.set_running_or_notify_cancel():
                return
            try:
                with coming.board.shown(coming.title) as tell:
                    kernel = self._compiled(vehicle, method, contact, workers, tell)
            except BaseException as error:
                coming.kernel.set_exception(error)
            else:
                coming.kernel.set_result(kernel)

        worker.submit(compile_it)
        return coming

    def _compiled(
        self,
        vehicle: Vehicle,
        method: Integrator,
        contact: bool,
        workers: CacheWorkers | None,
        tell: Tell | None = None,
    ) -> Stepper:
        if workers is not None and method.by_scheme(vehicle):
            with self._symbolic:
                kernel = kernel_text(vehicle, method, kind_of(vehicle).inline if contact else None)
            workers.ensure(prepared_as(kernel), prepare, kernel, progress=tell)
        elif workers is not None and vehicle.form in TREES and method.name in INTEGRATORS:
            name, *recursions = recursions_of(vehicle, method)
            workers.ensure(name, prepare_recursions, *recursions, progress=tell)
        with self._symbolic:
            return self._make(vehicle, method, kind_of(vehicle).inline if contact else None)


def _method(vehicle: Vehicle, integrator: str | Integrator) -> Integrator:
    methods = integrators()
    if isinstance(integrator, str):
        if integrator not in methods:
            raise InputError(f'unknown integrator "{integrator}"; allowed: {one_of(methods, integrator)}')
        integrator = methods[integrator]
    reason = integrator.serves(vehicle)
    if reason:
        raise InputError(f"{integrator.name} does not serve {vehicle.name}: {reason}")
    return integrator
