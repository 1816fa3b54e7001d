"""Kernels on demand: those in use are kept, missing ones are compiled without stopping the lanes."""

import threading
from concurrent.futures import Future, ThreadPoolExecutor

import sim
from sim.aside import Aside, Tell
from sim.compiler import kernel_text, load_module
from sim.environment.surroundings import inline_for
from sim.errors import one_of
from sim.integrators import Integrator
from sim.scene import Scene
from sim.simulation.reference import reference_method
from sim.steppers import Stepper
from sim.steppers.choice import stepper_of
from sim.vehicles import Vehicle, known_vehicle
from sim.vehicles.structure import Structure

Key = tuple[Structure, Integrator, bool]


class Compiling(Exception):
    """Not there yet; the message says what is being compiled."""

    def __init__(self, message: str, coming: Future[Stepper]) -> None:
        super().__init__(message)
        self._coming = coming

    @property
    def over(self) -> bool:
        """Whether it is worth asking again."""
        return self._coming.done()


class KernelStore:
    """Kernels by the vehicle's structure, integrator and contact."""

    def __init__(self, aside: Aside | None = None) -> None:
        """With `aside`, which it then owns, missing kernels are compiled in processes beside this one."""
        self._aside = aside
        self._symbolic = threading.Lock()
        """CasADi does not say that expressions may be built by two threads at once."""
        self._ready: dict[Key, Stepper] = {}
        self._coming: dict[Key, Future[Stepper]] = {}
        self._worker: ThreadPoolExecutor | None = None

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
            kernel = self._compiled(vehicle, method, contact, tell)
        else:
            coming = self._coming.get(key) or self._worker.submit(self._compiled, vehicle, method, contact)
            self._coming[key] = coming
            if not coming.done():
                raise Compiling(f"compiling {method.name} for {vehicle.name} ...", coming)
            del self._coming[key]
            kernel = coming.result()
        self._ready[key] = kernel
        return kernel

    def work_in_background(self) -> None:
        """From now on `get` never blocks."""
        if self._worker is None:
            self._worker = ThreadPoolExecutor(1, thread_name_prefix="kernels")

    def close(self) -> None:
        """Back to compiling in the caller's thread and process; what is being compiled is given up."""
        aside, self._aside = self._aside, None
        if aside is not None:
            aside.close()
        if self._worker is not None:
            self._worker.shutdown(wait=True, cancel_futures=True)
        self._worker = None
        self._coming.clear()

    def _compiled(
        self, vehicle: Vehicle, method: Integrator, contact: bool, tell: Tell | None = None
    ) -> Stepper:
        aside = self._aside
        if aside is not None and vehicle.form in method.forms:
            with self._symbolic:
                module = kernel_text(vehicle, method, inline_for(vehicle) if contact else None)
            aside.ensure(module.name, load_module, module.name, module.text, tell=tell)
        with self._symbolic:
            return stepper_of(vehicle, method, inline_for(vehicle) if contact else None)


def starting_methods(scene: Scene) -> tuple[Vehicle, tuple[str, ...]]:
    """A scene's vehicle, and the methods that its lanes and its reference start with, each once."""
    vehicle = known_vehicle(scene.vehicle, **scene.parameters.get(scene.vehicle, {}))
    names = [scene.integrator, *(lane.integrator for lane in scene.lanes)]
    if scene.comparison.reference:
        names.append(reference_method(vehicle))
    return vehicle, tuple(dict.fromkeys(names))


def _method(vehicle: Vehicle, integrator: str | Integrator) -> Integrator:
    methods = sim.integrators()
    if isinstance(integrator, str):
        if integrator not in methods:
            raise sim.InputError(f'unknown integrator "{integrator}"; allowed: {one_of(methods, integrator)}')
        integrator = methods[integrator]
    reason = integrator.serves(vehicle)
    if reason:
        raise sim.InputError(f"{integrator.name} does not serve {vehicle.name}: {reason}")
    return integrator
