"""`holonomy doctor`: what this computer has of what the app needs, in a line each."""

import os
import platform
import sys
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from sim.platform.cache import cache_dir
from sim.platform.values import dataclass
from ui.settings.view_settings import config_dir

_LIBRARIES = ("numpy", "scipy", "casadi", "llvmlite", "moderngl", "pyglet", "imgui-bundle", "av")
EXTRAS = {
    "live": "websockets",
    "notebook": "anywidget",
    "mcap": "mcap",
    "rerun": "rerun-sdk",
    "usd": "usd-core",
    "fmu": "ziglang",
    "logs": "pyulog",
    "cluster": "distributed",
    "gym": "gymnasium",
    "learn": "cma",
    "hydrodynamics": "capytaine",
}
"""Of what an installation can have besides: the library by which it is known."""
_CACHES = ("kernels", "nodes", "worlds", "meshes")
FOUND, MISSING, BESIDE = "found", "MISSING", "not there"
"""Of a finding: it is there; it is needed and is not; the app does without it."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One line."""

    subject: str
    state: str
    text: str


def examine() -> tuple[Finding, ...]:
    """Look at everything; what fails in whatever way is a finding."""
    checks: tuple[tuple[str, str, Callable[[], str]], ...] = (
        ("python", MISSING, _python),
        ("OpenGL without a window", MISSING, _offscreen),
        ("display", BESIDE, _display),
        ("OpenGL in a window", BESIDE, _window),
        ("audio", BESIDE, _audio),
        ("gamepads and joysticks", BESIDE, _controllers),
        ("H.264", MISSING, _video),
        ("planner", MISSING, _solvers),
        ("cache", BESIDE, _cache),
        ("settings and takes", BESIDE, lambda: _writable(config_dir())),
        ("extras", BESIDE, _extras),
    )
    return tuple(finding(*check) for check in checks)


def run(findings: tuple[Finding, ...] | None = None) -> int:
    """Print findings, by default of this machine; 0 where nothing that is needed is missing, else 1."""
    findings = examine() if findings is None else findings
    width = max(len(one.subject) for one in findings)
    for one in findings:
        print(f"{one.subject:{width}}  {one.state:9}  {one.text}")
    return int(any(one.state == MISSING for one in findings))


def finding(subject: str, otherwise: str, check: Callable[[], str]) -> Finding:
    """What a check tells, or the first line of what it raises, in the state `otherwise`."""
    try:
        return Finding(subject, FOUND, check())
    except Exception as error:  # of whatever library and driver
        lines = str(error).strip().splitlines()
        return Finding(subject, otherwise, lines[0] if lines else type(error).__name__)


def _python() -> str:
    told = []
    for name in _LIBRARIES:
        try:
            told.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            raise LookupError(f"{name} is not installed") from None
    return f"{platform.python_version()} on {platform.platform(terse=True)}; {', '.join(told)}"


def _offscreen() -> str:
    from export.studio import offscreen_context

    ctx = offscreen_context()
    try:
        return f"{ctx.version_code / 100:.1f}, {ctx.info['GL_RENDERER']}"
    finally:
        ctx.release()


def _display() -> str:
    if sys.platform.startswith("linux") and not os.environ.get("DISPLAY"):
        raise LookupError("DISPLAY is not set: --headless runs without a window")
    import pyglet

    screens = pyglet.display.get_display().get_screens()
    return ", ".join(f"{screen.width} x {screen.height}" for screen in screens)


def _window() -> str:
    _display()
    import pyglet
    from pyglet import gl

    config = gl.Config(  # type: ignore[abstract]  # the way to ask for one
        major_version=4, minor_version=1, double_buffer=True, depth_size=24
    )
    window = pyglet.window.Window(64, 64, visible=False, config=config)
    try:
        return f"{window.context.get_info().get_version_string()}, {window.context.get_info().get_renderer()}"
    finally:
        window.close()


def _audio() -> str:
    from ui.features.sound import audio_driver

    driver = audio_driver()
    if driver is None:
        raise LookupError("no sound: there is no device or no driver, and the window is silent")
    return type(driver).__module__.split(".")[-2]


def _controllers() -> str:
    import pyglet

    try:
        names = [controller.name for controller in pyglet.input.get_controllers()]
        names += [joystick.device.name for joystick in pyglet.input.get_joysticks()]
    except FileNotFoundError:
        names = []  # not even a folder of devices
    if not names:
        raise LookupError("none is plugged in; keys fly everything")
    return ", ".join(names)


def _video() -> str:
    import av

    return f"{av.codec.Codec('libx264', 'w').long_name}"


def _solvers() -> str:
    import casadi as ca

    found = [name for name in ("fatrop", "ipopt") if ca.has_nlpsol(name)]
    if not found:
        raise LookupError("CasADi has neither fatrop nor IPOPT")
    return ", ".join(found)


def _cache() -> str:
    folder = cache_dir("kernels")
    if folder is None:
        raise LookupError("no folder that can be used: every start compiles anew")
    told = []
    for kind in _CACHES:
        files = [path for path in (folder.parent / kind).glob("*") if path.is_file()]
        told.append(f"{kind} {sum(path.stat().st_size for path in files) / 1e6:.0f} MB")
    return f"{_writable(folder.parent)}: {', '.join(told)}"


def _writable(folder: Path) -> str:
    folder.mkdir(parents=True, exist_ok=True)
    if not os.access(folder, os.W_OK):
        raise PermissionError(f"{folder} cannot be written")
    return str(folder)


def _extras() -> str:
    told = []
    for extra, name in EXTRAS.items():
        try:
            told.append(f"{extra} ({name} {version(name)})")
        except PackageNotFoundError:
            told.append(f'no {extra} (pip install "holonomy[{extra}]")')
    return ", ".join(told)
