"""What an FMU computes with, as LLVM text: the compiler's own kernel, its outputs, and their derivatives.

Machine code of FMUs for several systems, by the C compiler that the package ziglang brings."""

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import casadi as ca

from sim.compiler import robust
from sim.compiler.kernel import kernel_text
from sim.compiler.printer import Printer, solution_order
from sim.compiler.vector_code import Function, module
from sim.fmu.description import Interface
from sim.fmu.trees import tree_module
from sim.integrators import Integrator
from sim.integrators.base import Scheme
from sim.platform.cache import cache_dir
from sim.platform.errors import InputError, one_of, quote
from sim.symbolic import replaced, solve
from sim.vehicles import Vehicle
from sim.vehicles.forms.articulated import ArticulatedVehicle

RUNTIME = Path(__file__).parent / "runtime"


@dataclass(frozen=True)
class Target:
    """A processor under a system."""

    name: str
    """As the compiler names it, with the oldest C library or system that will do."""
    folder: str
    """Of its machine code in a unit."""
    ending: str


_LINUX, _LINUX_ARM = "x86_64-linux-gnu.2.17", "aarch64-linux-gnu.2.17"
_MAC, _MAC_ARM = "x86_64-macos.11.0-none", "aarch64-macos.11.0-none"
_TARGETS: dict[str, dict[str, tuple[Target, ...]]] = {
    "linux": {
        "2.0": (Target(_LINUX, "linux64", ".so"),),
        "3.0": (Target(_LINUX, "x86_64-linux", ".so"), Target(_LINUX_ARM, "aarch64-linux", ".so")),
    },
    "windows": {
        "2.0": (Target("x86_64-windows-gnu", "win64", ".dll"),),
        "3.0": (Target("x86_64-windows-gnu", "x86_64-windows", ".dll"),),
    },
    "macos": {
        "2.0": (Target(_MAC, "darwin64", ".dylib"),),
        "3.0": (
            Target(_MAC, "x86_64-darwin", ".dylib"),
            Target(_MAC_ARM, "aarch64-darwin", ".dylib"),
        ),
    },
}
"""System -> version of FMI -> what is compiled for it."""
PLATFORMS = tuple(_TARGETS)


def targets_of(platforms: Sequence[str], version: str) -> list[Target]:
    """Of systems by name. Raises InputError for one that is unknown."""
    if isinstance(platforms, str):
        platforms = (platforms,)
    for name in platforms:
        if name not in PLATFORMS:
            raise InputError(f"platforms: unknown {quote(name)}; allowed: {one_of(PLATFORMS)}")
    if not platforms:
        raise InputError(f"platforms: none is refused; allowed: {one_of(PLATFORMS)}")
    return [target for name in dict.fromkeys(platforms) for target in _TARGETS[name][version]]


def check_compiler() -> None:
    """Raises InputError where it is not installed."""
    if find_spec("ziglang") is None:
        raise InputError('export_fmu: FMUs need ziglang, which is not there; pip install "holonomy[fmu]"')


def compiled(folder: Path, target: Target, library: str, version: str) -> Path:
    """A shared library out of the modules `*.ll` and `vehicle.h` in a folder. Raises InputError where that fails."""
    sources = [RUNTIME / name for name in ("model.c", f"fmi{version[0]}.c")]
    made = folder / target.folder
    made.mkdir()
    file = made / f"{library}{target.ending}"
    command = [
        *(sys.executable, "-m", "ziglang", "cc", "-shared", "-fPIC", "-O2", "-g0", "-s", "-std=c11"),
        *("-fvisibility=hidden", "-Wno-override-module", "-ffp-contract=off", "-target", target.name),
        *("-I", str(folder), "-o", str(file)),
        *map(str, [*sources, *sorted(folder.glob("*.ll"))]),
        *(["-lm"] if "linux" in target.name else []),
        *([f"-Wl,-install_name,@rpath/{file.name}"] if "macos" in target.name else []),
    ]
    kept = cache_dir("zig") or folder
    environment = os.environ | {
        "ZIG_GLOBAL_CACHE_DIR": str(kept),
        "ZIG_LOCAL_CACHE_DIR": str(folder / "zig"),
    }
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode or not file.exists():
        lines = [line for line in done.stderr.splitlines() if "error" in line] or done.stderr.splitlines()
        said = lines[0].strip() if lines else f"status {done.returncode}"
        raise InputError(f"export_fmu: {target.name} cannot be compiled for: {said}")
    return file


OUTPUTS = ("node", "u", "p", "out")
DIRECTIONAL = ("y", "u", "w", "p", "h", "du", "dp", "dout")
"""Tables of the two functions."""


@dataclass(frozen=True)
class Code:
    """Modules, and the sizes that the runtime has to know."""

    modules: tuple[str, ...]
    private_size: int
    """Of the method's state; adaptive methods have two more numbers behind it."""
    wrench_size: int
    directional: bool
    """Whether there are derivatives of the outputs."""


def code_of(vehicle: Vehicle, method: Integrator, h: float, interface: Interface) -> Code:
    """Of steps h. Raises InputError where the method cannot serve the vehicle."""
    if isinstance(vehicle, ArticulatedVehicle):
        text, size = tree_module(vehicle, method, h, interface)
        return Code((_hidden(text),), size, vehicle.wrench_size, True)
    kernel = kernel_text(vehicle, method)
    made = [kernel.text, robust.text(), _outputs(interface)]
    scheme = method.scheme(vehicle) if _differentiable(vehicle, method) else None
    if scheme is not None and scheme.error is None and scheme.substeps == (1.0,):
        made.append(_directional(scheme, interface))
    size = kernel.scheme_size + (2 if method.adaptive else 0)
    return Code(tuple(_hidden(text) for text in made), size, vehicle.wrench_size, len(made) == 4)


def _differentiable(vehicle: Vehicle, method: Integrator) -> bool:
    """Whether the step of the kernel is a scheme of expressions."""
    return method.by_scheme(vehicle) and getattr(vehicle, "action", None) is None


def _hidden(text: str) -> str:
    """The same with functions that no other program sees."""
    return re.sub(r"^define (?=i64|void|double)", "define hidden ", text, flags=re.MULTILINE)


def _outputs(interface: Interface) -> str:
    function = Function(1)
    function.begin("outputs")
    function.pointers(*OUTPUTS)
    symbols = zip(OUTPUTS, (interface.node, interface.u, interface.p), strict=False)
    known = [(x, function.loaded(f"%{name}", x.numel())) for name, x in symbols]
    function.stored("%out", function.expression(known, interface.outputs))
    function.end()
    return module([function])


def _directional(scheme: Scheme, interface: Interface) -> str:
    """How outputs change with controls and parameters while the state stays, by the implicit function theorem."""
    i = scheme.inputs
    du, dp = ca.SX.sym("du", i.u.numel()), ca.SX.sym("dp", i.p.numel())
    (out,) = replaced(
        [interface.outputs], [interface.node, interface.u, interface.p], [scheme.node, i.u, i.p]
    )

    def along(expression: ca.SX) -> ca.SX:
        parts = [ca.jtimes(expression, x, dx) for x, dx in ((i.u, du), (i.p, dp)) if x.numel()]
        return sum(parts, ca.SX.zeros(expression.numel()))

    change = along(out)
    if scheme.z.numel():
        dz = solve(ca.jacobian(scheme.residual, scheme.z), -along(scheme.residual))
        change += ca.jtimes(out, scheme.z, dz)
    printer = Printer(scheme, 1)
    printer.begin("directional")
    printer.pointers(*DIRECTIONAL)
    given, y = printer.given(), printer.loaded("%y", scheme.y.numel())
    z = printer.solved(given, y, solution_order(scheme), "failed")
    known = [
        *printer.known(given, y, z),
        (du, printer.loaded("%du", du.numel())),
        (dp, printer.loaded("%dp", dp.numel())),
    ]
    printer.stored("%dout", printer.expression(known, ca.densify(change)))
    printer.add("ret i64 0")
    printer.label("failed")
    printer.end("i64 1")
    return module([printer])


def check_closed(vehicle: Vehicle, inline: object | None) -> None:
    """Raises InputError for what steps by more than its own equations."""
    if inline is not None:
        raise InputError(
            f"export_fmu: the water that carries a {vehicle.name} is no part of an FMU; "
            "allowed: vehicles that it does not carry"
        )
