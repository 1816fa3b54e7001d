"""Kernels on demand: those in use are kept, missing ones are compiled without stopping the lanes."""

from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np

import sim
from sim.compiler import Kernel, compile_kernel
from sim.vehicles import Vehicle

Key = tuple[str, str, frozenset[str]]


class Compiling(Exception):
    """Not there yet; the message says what is being compiled."""


class KernelStore:
    """Kernels by vehicle class, integrator and the optional effects that are switched on."""

    def __init__(self) -> None:
        self._ready: dict[Key, Kernel] = {}
        self._coming: dict[Key, Future[Kernel]] = {}
        self._worker: ThreadPoolExecutor | None = None

    def get(self, vehicle: Vehicle, integrator: str) -> Kernel:
        """The kernel of a pair.

        Raises InputError where the pair cannot work. In background mode raises Compiling until it is there.
        """
        key = _key(vehicle, integrator)
        if key in self._ready:
            return self._ready[key]
        if self._worker is None:
            kernel = _compiled(vehicle, integrator)
        else:
            coming = self._coming.get(key) or self._worker.submit(_compiled, vehicle, integrator)
            self._coming[key] = coming
            if not coming.done():
                raise Compiling(f"compiling {integrator} for {vehicle.name} ...")
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


def _key(vehicle: Vehicle, integrator: str) -> Key:
    active = frozenset(q.name for q in vehicle.parameters if q.optional and np.any(vehicle.values[q.name]))
    return vehicle.name, integrator, active


def _compiled(vehicle: Vehicle, integrator: str) -> Kernel:
    methods = sim.integrators()
    if integrator not in methods:
        raise sim.InputError(f'unknown integrator "{integrator}"; allowed: {", ".join(methods)}')
    reason = methods[integrator].serves(vehicle)
    if reason:
        raise sim.InputError(f"{integrator} does not serve {vehicle.name}: {reason}")
    return compile_kernel(vehicle, methods[integrator], ground=True)
