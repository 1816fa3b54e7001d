"""Compiled kernels: one (vehicle, integrator) pair as machine code, cached on disk across runs."""

import hashlib
import json
import re
import threading
from collections.abc import Callable
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np

from sim.compiler import robust, stepper
from sim.compiler.columns import energies, observer, observer_rows
from sim.compiler.copies import rods_module
from sim.compiler.kernel_code import kernel_module
from sim.compiler.loops import divided_moments, moments
from sim.compiler.printer import SETTLE
from sim.compiler.staged import staged_module
from sim.compiler.stepper import (
    AMID,
    FREE,
    FREELY,
    Inline,
    Stepper,
    driver,
    inline_of,
    prepared_driver,
)
from sim.integrators import INTEGRATORS
from sim.integrators.base import Integrator
from sim.native.function import Native, versions
from sim.native.objects import Engine, loaded
from sim.platform.cache import found, keep, keep_checked, read_checked, source_digest
from sim.platform.errors import InputError
from sim.platform.values import dataclass
from sim.vehicles.forms.base import Structure, Vehicle
from sim.vehicles.forms.homogeneous import ActionVehicle
from sim.vehicles.forms.observation import Observed, layout_of
from sim.vehicles.forms.rods import LinkedRods

START_SWEEPS, START_TOLERANCE = 60, 1e-14
"""How often, and up to which relative change, the wrench of a start amid something smooth is found again."""


class Kernel(Stepper):
    """Steps of one vehicle by one method as machine code."""

    def __init__(
        self, structure: Structure, integrator: Integrator, inline: Inline | None, generated: "KernelText"
    ) -> None:
        """inline: the environment that it was asked to have within, whether that acts on the vehicle or not."""
        vehicle = structure.vehicle
        self.integrator, self.inline, self.moments = integrator, inline, generated.moments
        self.private_size = generated.scheme_size + (2 if integrator.adaptive else 0)
        """Adaptive methods keep their next inner step and the tolerance behind the scheme's own state."""
        self.node_size, self.dim = vehicle.node_layout.size, vehicle.wrench_size
        self.layout = layout_of(vehicle)
        self.energies = partial(energies, structure)
        """(nodes, p) -> (n,) J."""
        self._observing = observer(structure)
        self._served = generated.inline is not None
        self._engine, own = load_kernel(generated), driver(generated.inline)
        self.address: Callable[[str], int] = cache(self._engine.get_function_address)
        """Of a function of the module; 0: it has none of that name."""
        self.code = tuple(map(self.address, generated.calls))
        """Addresses of the functions that its driver calls."""
        self._rollout: Any = partial(own.rollout, self.code)
        self._trajectory: Any = partial(own.trajectory, self.code)
        self._local = threading.local()

    def start(
        self, node: np.ndarray, u: np.ndarray, p: np.ndarray, h: float, env: tuple[Any, ...] = FREE
    ) -> np.ndarray:
        y = np.empty(self.private_size)
        self._begin("start", node, u, np.zeros(self.dim), p, h, y)
        if self.integrator.adaptive:
            y[-2:] = h, self.integrator.tolerance
        if not (env and self.inline and self._served):
            return y
        self.node(y, u, p, h, env=env)
        if self.inline.smooth:
            self._begin_pushed(self.inline, node, u, p, h, env, y)
        elif np.any(env[-1]):
            self._begin("start_carried", node, u, np.zeros(self.dim), p, h, y)
        return y

    def _begin(
        self,
        how: str,
        node: np.ndarray,
        u: np.ndarray,
        w: np.ndarray,
        p: np.ndarray,
        h: float,
        y: np.ndarray,
    ) -> bool:
        """Fill in the private state of a node by one of the module's starts; whether it has that one."""
        code = self.address(how)
        if code:
            stepper.start((code,) * 3, *self._work(), node, u, w, p, h, 0, y, FREE)
        return code != 0

    def _begin_pushed(
        self,
        inline: Inline,
        node: np.ndarray,
        u: np.ndarray,
        p: np.ndarray,
        h: float,
        env: tuple[Any, ...],
        y: np.ndarray,
    ) -> None:
        """Change y so that the wrench that it meets leads to this very node.

        The wrench depends on y by the velocity that a step would reach, and takes at most all of that: half of its
        impulse changes by at most half of what y does, so that repeating converges.
        """
        (_, _, undo), w = inline.functions(), env[-1]
        for _ in range(START_SWEEPS):
            before = w.copy()
            if not self._begin("start_pushed", node, u, before, p, h, y):
                return
            undo(env)
            self.node(y, u, p, h, env=env)
            if np.abs(w - before).max() <= START_TOLERANCE * np.abs(w).max():
                return

    def advance(
        self,
        y: np.ndarray,
        u: np.ndarray,
        w: np.ndarray,
        p: np.ndarray,
        h: float,
        n: int,
        env: tuple[Any, ...] = FREE,
    ) -> tuple[int, int, int]:
        """Status is OK, NEWTON_FAILED or NOT_FINITE, iterations are Newton's."""
        return self._rollout(*self._work(), y, u, w, p, h, n, np.empty(self.node_size), self._env(env))

    def node(
        self,
        y: np.ndarray,
        u: np.ndarray,
        p: np.ndarray,
        h: float,
        *,
        w: np.ndarray | None = None,
        env: tuple[Any, ...] = FREE,
    ) -> np.ndarray:
        node = np.empty(self.node_size)
        w = np.zeros(self.dim) if w is None else w
        self._rollout(*self._work(), y.copy(), u, w, p, h, 1, node, self._env(env))
        return node

    def trajectory(
        self,
        y: np.ndarray,
        us: np.ndarray,
        p: np.ndarray,
        h: float,
        n: int,
        env: tuple[Any, ...] = FREE,
    ) -> tuple[np.ndarray, int, int]:
        nodes, work, env = np.empty((n + 1, self.node_size)), self._work(), self._env(env)
        ws = np.zeros((1, self.dim))
        done, iterations = self._trajectory(*work, y, us, ws, p, h, n, nodes, env)
        if done == n:
            last = us[min(n, len(us)) - 1] if len(us) else np.zeros(us.shape[1])
            self._rollout(*work, y.copy(), last, ws[0], p, h, 1, nodes[n], env)
        nodes[done + 1 :] = np.nan
        return nodes, done, iterations

    def observe_all(self, nodes: np.ndarray, us: np.ndarray, p: np.ndarray, h: float = 1.0) -> Observed:
        rows = np.empty((len(nodes), self.layout.size))
        self._observing(np.ascontiguousarray(nodes), us, p, h, rows)
        for name in self.layout.of_step:
            rows[-1, self.layout.observables[name]] = np.nan
        return Observed(self.layout, rows)

    def observed_later(
        self, nodes: np.ndarray, us: np.ndarray, p: np.ndarray, h: float
    ) -> tuple[np.ndarray, Observed]:
        return self.energies(nodes, p), Observed(self.layout, lambda: self.observe_all(nodes, us, p, h).rows)

    def _work(self) -> tuple[np.ndarray, np.ndarray]:
        """What a call works in, of this thread."""
        kept: dict[str, tuple[np.ndarray, np.ndarray]] = self._local.__dict__
        if "work" not in kept:
            kept["work"] = stepper.workspace(self.private_size, self.dim, self.node_size)
        return kept["work"]

    def _env(self, env: tuple[Any, ...]) -> tuple[Any, ...]:
        """As the module takes it."""
        if self.inline is None:
            assert not env, "this kernel was compiled with nothing inlined"
            return FREE
        return (env or self.inline.nothing()) if self._served else FREE


def compile_kernel(
    vehicle: Vehicle, integrator: Integrator, inline: Inline | None = None, *, sampled: bool = False
) -> Kernel:
    """The kernel of a pair, from the cache where it is there: one for all values of the parameters.

    `inline`: what acts within every step, where it serves the vehicle; that takes longer to compile. `sampled`:
    controls are given at the method's own moments of every step.
    Raises InputError with the reason where the integrator cannot serve the vehicle.
    """
    return _compiled(Structure.of(vehicle), integrator, inline, sampled)


@lru_cache(maxsize=256)
def _compiled(structure: Structure, integrator: Integrator, inline: Inline | None, sampled: bool) -> Kernel:
    generated = kernel_text(structure.vehicle, integrator, inline, sampled=sampled)
    return Kernel(structure, integrator, inline, generated)


@dataclass(frozen=True, slots=True)
class KernelText:
    """The printed module of a pair, which need not have been compiled yet."""

    name: str
    """With a digest of the text."""
    text: str
    scheme_size: int
    """Of the scheme's private state."""
    moments: tuple[float, ...]
    """Of sampled controls."""
    calls: tuple[str, ...]
    """Names of the functions that its driver calls."""
    inline: Inline | None
    """What acts within its steps."""


def load_kernel(generated: KernelText) -> Engine:
    """Owns the functions of a kernel, from the cache or compiled into it; the text is kept beside, for people."""
    file, text = f"{generated.name}.ll", generated.text
    if found("kernels", file) is None:
        keep("kernels", file, lambda path: path.write_text(text, encoding="utf-8"))
    if f"@{SETTLE}(" in text:
        robust.announced()
    return loaded(text, optimised=True)


def prepared_as(generated: KernelText) -> str:
    """Name of what takes longer to compile than a swap may wait for: the drivers."""
    return f"{'_'.join(generated.calls)}_{prepared_driver(generated.inline)}"


def prepare(generated: KernelText) -> None:
    """Have that in the cache, with what a hard step needs in flight."""
    robust.compiled()
    for function in (driver(generated.inline).rollout, stepper.start, observer_rows):
        if isinstance(function, Native):  # others are made when they are declared
            function.prepare()


def kernel_text(
    vehicle: Vehicle, integrator: Integrator, inline: Inline | None = None, *, sampled: bool = False
) -> KernelText:
    """The module of a pair. Raises InputError as `compile_kernel` does."""
    try:
        return _generated(Structure.of(vehicle), integrator, inline, sampled)
    except TypeError as error:
        if "no compiled form" not in str(error):
            raise
        raise InputError(f"{vehicle.name} under {integrator.name}: {error}") from error


@lru_cache(maxsize=256)
def _generated(
    structure: Structure, integrator: Integrator, inline: Inline | None, sampled: bool
) -> KernelText:
    vehicle = structure.vehicle
    reason = integrator.serves(vehicle)
    if reason:
        raise InputError(reason)
    inline = inline_of(inline, vehicle)
    calls = AMID if inline else FREELY
    kept_as = _kept_as(structure, integrator, inline, sampled=sampled)
    if kept_as and (kept := read_checked("texts", kept_as)) is not None:
        told, _, text = kept.decode().partition("\n")
        name, size, at = json.loads(told)
        return KernelText(name, text, size, tuple(at), calls, inline)
    if isinstance(vehicle, LinkedRods) and vehicle.form in integrator.by_recursion:
        text, size = rods_module(vehicle), 7 * vehicle.link_count
        at = integrator.samples(vehicle) if sampled else ()
    elif isinstance(vehicle, ActionVehicle) and vehicle.action.parts:
        at = integrator.samples(vehicle) if sampled else ()
        text, size = staged_module(vehicle, integrator, at), vehicle.space.size
        at = divided_moments(at) if integrator.adaptive else at
    else:
        scheme = integrator.scheme(vehicle, sampled=sampled)
        text = kernel_module(vehicle, scheme, amid=inline is not None)
        size, at = scheme.y.numel(), moments(scheme)
    digest = hashlib.sha256(f"{text}{inline and inline.module}".encode()).hexdigest()[:16]
    name = re.sub(r"\W", "_", f"holonomy_{vehicle.name}_{integrator.name}_{digest}")
    if kept_as:
        keep_checked("texts", kept_as, f"{json.dumps((name, size, at))}\n{text}".encode())
    return KernelText(name, text, size, at, calls, inline)


def _kept_as(structure: Structure, integrator: Integrator, inline: Inline | None, *, sampled: bool) -> str:
    """Name of a module's text in the cache, with a digest of all that it is printed from: to print one takes ten times
    as long as to read it. Nothing where that is not all known: of a vehicle or a method of one's own."""
    if not structure.told or INTEGRATORS.get(integrator.name) is not integrator:
        return ""
    told = structure.told, integrator.name, inline and inline.module, sampled
    return hashlib.sha256(f"{told!r} {_sources()}".encode()).hexdigest()


@cache
def _sources() -> str:
    """Digest of all that equations come from: vehicles, methods, what they have in common, and CasADi."""
    return source_digest(Path(__file__).parents[1], others=f"{versions()} {ca.CasadiMeta.version()}")
