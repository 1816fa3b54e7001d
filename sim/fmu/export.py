"""`export_fmu`: a vehicle under a method as an FMU, for any program that steps such units."""

import hashlib
import re
import zipfile
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from sim.environment.environment import environment_of
from sim.fmu.code import PLATFORMS, Code, check_closed, check_compiler, code_of, compiled, targets_of
from sim.fmu.description import About, Interface, Variable, description
from sim.integrators import Integrator
from sim.platform.errors import InputError, quote
from sim.platform.replacing import replacing
from sim.steppers.trajectory import checked_method, checked_start, step_count
from sim.vehicles import State, Vehicle, checked_vehicle

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
        for target in targets:
            files[f"binaries/{target.folder}/{name}{target.ending}"] = compiled(
                folder, target, name, version
            ).read_bytes()
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
