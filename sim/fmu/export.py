"""A vehicle under a method as an FMU, for any program that steps such units.

What it computes with is LLVM text: the compiler's own kernel, its outputs and their derivatives; machine code of it for
several systems is made by the C compiler that the package ziglang brings.
"""

import hashlib
import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

import casadi as ca
import numpy as np

from sim.compiler import robust
from sim.compiler.kernel import kernel_text
from sim.compiler.printer import Printer, solution_order
from sim.compiler.vector_code import Function, module
from sim.environment.environment import environment_of
from sim.fmu.description import About, Interface, Variable, description
from sim.fmu.trees import tree_module
from sim.integrators import Integrator
from sim.integrators.base import Scheme
from sim.platform.cache import cache_dir
from sim.platform.errors import InputError, one_of, quote
from sim.platform.progress import TellShare, unheard
from sim.platform.replacing import replacing
from sim.platform.values import dataclass
from sim.steppers.trajectory import checked_method, checked_start, step_count
from sim.symbolic import replaced, solve
from sim.vehicles import State, Vehicle, checked_vehicle
from sim.vehicles.forms.articulated import ArticulatedVehicle

RUNTIME = Path(__file__).parent / "runtime"
_LOOK_S = 0.2
"""How often it is reported while the compiler works: minutes for the first unit, whose C libraries it makes, too."""


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


def compiled(
    folder: Path, target: Target, library: str, version: str, look: Callable[[], None] = lambda: None
) -> Path:
    """A shared library out of the modules `*.ll` and `vehicle.h` in a folder. Raises InputError where that fails.

    look: called again and again meanwhile; what it raises ends the compiler.
    """
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
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env=environment, stdout=pipe, stderr=pipe, text=True) as compiler:
        errors = None
        try:
            while errors is None:
                look()
                with suppress(subprocess.TimeoutExpired):
                    _, errors = compiler.communicate(timeout=_LOOK_S)
        except BaseException:
            compiler.kill()
            raise
    if compiler.returncode or not file.exists():
        lines = [line for line in errors.splitlines() if "error" in line] or errors.splitlines()
        said = lines[0].strip() if lines else f"status {compiler.returncode}"
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
    printer.put("ret i64 0")
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


VERSIONS = ("3.0", "2.0")
_DATE = (1980, 1, 1, 0, 0, 0)
"""Of all files in a unit: equal vehicles give equal units."""


def export_fmu(
    path: str | Path,
    vehicle: Vehicle | str,
    method: str | Integrator | None = None,
    step: float = 0.01,
    *,
    initial: State | None = None,
    version: str = "3.0",
    platforms: Sequence[str] = PLATFORMS,
) -> Path:
    """Write a co-simulation unit (FMI 3.0 or 2.0) that steps `vehicle` as `sim.simulate` does; returns the path.

    Other arguments are those of `sim.simulate`; `platforms` are "linux", "windows", "macos". Variables are parameters
    by their names, `initial.` and the columns of a state, `controls.` and their names, and outputs: `energy`,
    `momentum`, `omega`, `velocity`, `bodies.NAME.position`, `bodies.NAME.quaternion` (w, x, y, z), `shape.NAME`,
    `observables.NAME`. Communication steps are multiples of `step`. Needs ziglang.
    Raises InputError in one line for what cannot be exported, and where the file cannot be written.
    """
    if not isinstance(path, str | Path):
        raise InputError(f"export_fmu: {quote(path)} is refused; allowed: a file name ending in .fmu")
    path = Path(path)
    if path.suffix.lower() != ".fmu":
        raise InputError(f"export_fmu: {quote(str(path))} is refused; allowed: a file name ending in .fmu")
    if version not in VERSIONS:
        raise InputError(f"export_fmu: version = {quote(version)} is refused; allowed: {', '.join(VERSIONS)}")
    vehicle = checked_vehicle(vehicle)
    scheme = checked_method(method, vehicle)
    h, _ = step_count(step, 0.0)
    state = checked_start(initial, vehicle)
    targets_of(platforms, version)
    try:
        with replacing(path) as temporary:
            write_unit(temporary, vehicle, scheme, h, state, version, platforms)
    except OSError as error:
        raise InputError(f"export_fmu: {path} cannot be written: {error.strerror or error}") from None
    return path


def write_unit(
    path: Path,
    vehicle: Vehicle,
    scheme: Integrator,
    h: float,
    start: State,
    version: str,
    platforms: Sequence[str],
    report: TellShare = unheard,
) -> None:
    """The same of what was checked, into a file of any name. Raises InputError and OSError."""
    targets = targets_of(platforms, version)
    check_compiler()
    check_closed(vehicle, environment_of(vehicle).inline)
    interface = Interface.of(vehicle, start)
    code = code_of(vehicle, scheme, h, interface)
    header = _header(vehicle, scheme, h, interface, code)
    told = "\0".join((*code.modules, header, version))
    token = f"{{{hashlib.sha256(told.encode()).hexdigest()[:32]}}}"
    name = re.sub(r"\W", "_", vehicle.name)
    about = About(
        name=vehicle.name,
        identifier=name,
        token=token,
        step_s=h,
        directional=code.directional,
        doc=f"{vehicle.name} by {scheme.name}, steps of {h:g} s; z is up, SI units",
    )
    with TemporaryDirectory(prefix="holonomy-fmu-") as place:
        folder = Path(place)
        (folder / "vehicle.h").write_text(f'{header}#define TOKEN "{token}"\n', encoding="utf-8")
        for k, text in enumerate(code.modules):
            (folder / f"module_{k}.ll").write_text(text, encoding="utf-8")
        files = {"modelDescription.xml": description(version, about, interface)}
        for k, target in enumerate(targets):
            said = f"machine code for {target.folder}; the first unit takes minutes", k / len(targets)
            made = compiled(folder, target, name, version, lambda said=said: report(*said))  # type: ignore[misc]
            files[f"binaries/{target.folder}/{name}{target.ending}"] = made.read_bytes()
    with zipfile.ZipFile(path, "w") as unit:
        for inner, content in files.items():
            entry = zipfile.ZipInfo(inner, _DATE)
            entry.external_attr = 0o644 << 16
            unit.writestr(entry, content, zipfile.ZIP_DEFLATED)


def _header(vehicle: Vehicle, method: Integrator, h: float, interface: Interface, code: Code) -> str:
    """vehicle.h: sizes, tables and default values for the runtime."""
    variables = interface.variables
    starts = np.concatenate([np.zeros(0), vehicle.parameter_vector, *_starts(variables)])
    low, high = _ranges(vehicle)
    rotations = vehicle.space.rotations
    quaternions = [at.start for at in getattr(vehicle, "quaternions", ())]
    sizes = {
        "PARAMETERS": vehicle.parameter_count,
        "NODE_SIZE": vehicle.node_layout.size,
        "CONTROLS": len(vehicle.controls),
        "OUTPUTS": interface.outputs.numel(),
        "PRIVATE_SIZE": code.private_size,
        "WRENCH_SIZE": code.wrench_size,
        "VARIABLES": len(variables),
        "ROTATIONS": len(rotations),
        "QUATERNIONS": len(quaternions),
        "ADAPTIVE": int(method.adaptive),
        "DIRECTIONAL": int(code.directional),
    }
    lines = [f"#define {name} {size}" for name, size in sizes.items()]
    lines += [f"#define STEP_S {h!r}", f"#define TOLERANCE {float(method.tolerance)!r}"]
    lines += [
        _table("double", "STARTS", starts),
        _table("double", "LOW", low),
        _table("double", "HIGH", high),
        _table("size_t", "ROTATION_AT", rotations),
        _table("size_t", "QUATERNION_AT", quaternions),
        _table("size_t", "VARIABLE_AT", [variable.at for variable in variables]),
        _table("size_t", "VARIABLE_SIZE", [variable.size for variable in variables]),
    ]
    return "\n".join([*lines, ""])


def _starts(variables: Sequence[Variable]) -> list[tuple[float, ...]]:
    """Of the start's node and the controls, which have a variable for every number."""
    return [v.start for v in variables if v.name.startswith("initial.") or v.causality == "input"]


def _ranges(vehicle: Vehicle) -> tuple[list[float], list[float]]:
    """Of every number of the parameters."""
    low = [q.low for q in vehicle.parameters for _ in range(q.size)]
    high = [q.high for q in vehicle.parameters for _ in range(q.size)]
    return low, high


def _table(kind: str, name: str, numbers: Sequence[float] | np.ndarray) -> str:
    """A constant array; C has none without entries."""

    def told(x: float) -> str:
        if kind != "double":
            return str(int(x))
        return repr(float(x)) if np.isfinite(x) else ("HUGE_VAL" if x > 0 else "-HUGE_VAL")

    entries = ", ".join(map(told, numbers)) or "0"
    return f"static const {kind} {name}[] __attribute__((unused)) = {{{entries}}};"
