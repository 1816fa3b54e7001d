"""Kernels on demand: those in use are kept, missing ones are compiled without stopping the lanes."""

from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np

import sim
from sim.compiler import Kernel, compile_kernel
from sim.integrators import Integrator
from sim.vehicles import Vehicle

Key = tuple[str, Integrator, bool, frozenset[str]]


class Compiling(Exception):
    """Not there yet; the message says what is being compiled."""


class KernelStore:
    """Kernels by vehicle class, integrator, contact and the optional effects that are switched on."""

    def __init__(self) -> None:
        self._ready: dict[Key, Kernel] = {}
        self._coming: dict[Key, Future[Kernel]] = {}
        self._worker: ThreadPoolExecutor | None = None

    def get(self, vehicle: Vehicle, integrator: str | Integrator, contact: bool = True) -> Kernel:
        """The kernel of a pair, with ground contact or without.

        Raises InputError where the pair cannot work. In background mode raises Compiling until it is there.
        """
        method = _method(vehicle, integrator)
        key = vehicle.name, method, contact, _active(vehicle)
        if key in self._ready:
            return self._ready[key]
        if self._worker is None:
            kernel = _compiled(vehicle, method, contact)
        else:
            coming = self._coming.get(key) or self._worker.submit(_compiled, vehicle, method, contact)
            self._coming[key] = coming
            if not coming.done():
                raise Compiling(f"compiling {method.name} for {vehicle.name} ...")
            del self._coming[key]
            kernel = coming.result()
        self._ready[key] = kernel
        return kernel

    def work_in_background(self) -> None:
        """From now on `get` never blocks."""
        if self._worker is None:
            self._worker = ThreadPoolExecutor(1, thread_name_prefix="kernels")

    def close(self) -> None:
        """Back to compiling in the caller's thread; waits for a compilation that has begun."""
        if self._worker is not None:
            self._worker.shutdown(wait=True, cancel_futures=True)
        self._worker = None
        self._coming.clear()


def _active(vehicle: Vehicle) -> frozenset[str]:
    return frozenset(q.name for q in vehicle.parameters if q.optional and np.any(vehicle.values[q.name]))


def _method(vehicle: Vehicle, integrator: str | Integrator) -> Integrator:
    methods = sim.integrators()
    if isinstance(integrator, str):
        if integrator not in methods:
            raise sim.InputError(f'unknown integrator "{integrator}"; allowed: {", ".join(methods)}')
        integrator = methods[integrator]
    reason = integrator.serves(vehicle)
    if reason:
        raise sim.InputError(f"{integrator.name} does not serve {vehicle.name}: {reason}")
    return integrator


def _compiled(vehicle: Vehicle, method: Integrator, contact: bool) -> Kernel:
    return compile_kernel(vehicle, method, ground=contact)
