"""What is asked of a run on the command line, and of an export, checked; writing it takes time to load: it is apart."""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import click
import numpy as np
from click import Path as PathType
from click import option

from export.output import OutputError, check_places
from sim.platform.errors import InputError, one_of, quote
from sim.platform.values import dataclass
from sim.vehicles import Vehicle


@dataclass(frozen=True, slots=True)
class Format:
    """A kind of file that motions are written into."""

    endings: tuple[str, ...]
    """The first is the one that menus offer."""
    text: str
    """What it is, in a menu."""
    writer: str
    """MODULE:FUNCTION, called with a path and an `export.nodes.Content`; imported when it is needed."""
    table: bool = False
    """Numbers by channels; else a scene with models, which may have its ground."""
    steps: bool = False
    """It wants every step that was recorded, and the ground; others moments as far apart as pictures."""
    live: str = ""
    """MODULE:CLASS, an `export.live_log.Log` of a path and a title, where it can be written while a window flies."""


FORMATS = (
    Format((".glb",), "glTF: models that move, for Blender and game engines", "export.gltf:write_glb"),
    Format(
        (".html",),
        "A page that any browser opens, with cameras and plots",
        "export.page:write_page",
        steps=True,
    ),
    Format((".usdc", ".usd", ".usda"), "USD: scenes for film and robotics tools", "export.usd:write_usd"),
    Format(
        (".mcap",),
        "A log for Foxglove: frames, models and channels over time",
        "export.mcap:write_mcap",
        steps=True,
        live="export.mcap:McapLog",
    ),
    Format(
        (".rrd",),
        "A recording for Rerun: models that move and channels over time",
        "export.rrd:write_rrd",
        steps=True,
        live="export.rrd:RrdLog",
    ),
    Format(
        (".fmu",),
        "A unit for co-simulation (FMI 3.0) that flies the first lane's vehicle, without Python",
        "export.fmu:write_fmu",
        steps=True,
    ),
    Format(
        (".csv",), "A table: places, velocities, controls, observables", "export.tables:write_csv", table=True
    ),
    Format((".npz",), "The same as arrays for numpy", "export.tables:write_npz", table=True),
)
ENDINGS = tuple(ending for kind in FORMATS for ending in kind.endings)


def format_of(path: Path) -> Format:
    """The kind of file that an ending tells. Raises InputError for another ending."""
    for kind in FORMATS:
        if path.suffix.lower() in kind.endings:
            return kind
    raise InputError(
        f"export: {quote(str(path))} is refused; allowed: a file name ending in {', '.join(ENDINGS)}"
    )


FPS = 30
CONTAINERS = {".mp4": "mp4", ".mkv": "matroska", ".mov": "mov"}
"""File endings of videos, and what the muxer calls them."""
QUALITIES = ("auto", "high", "medium", "low", "software")
SIZE_RANGE_PX = (16, 7680)
SECONDS_RANGE = (0.0, 86_400.0)
FPS_RANGE, SUBFRAMES_RANGE = (1, 240), (1, 64)
INCLUDED = ("terrain", "camera")


@dataclass(frozen=True, slots=True)
class Request:
    """The outcome that is asked for."""

    seconds: float = 10.0
    size_px: tuple[int, int] = (1280, 800)
    video: Path | None = None
    screenshot: Path | None = None
    csv: Path | None = None
    quality: str = "auto"
    demo: bool = False
    take: Path | None = None
    exports: tuple[Path, ...] = ()
    """Motions as scenes or tables, by their endings."""
    frames: Path | None = None
    """A picture a moment; `#` in the name stands for its number."""
    channels: tuple[str, ...] = ()
    """Of the tables; empty: all."""
    include: frozenset[str] = frozenset()
    """Of INCLUDED, what exported scenes have beside the vehicles."""
    fps: int = FPS
    """Pictures, rows and keys a simulated second."""
    transparent: bool = False
    """Pictures of `frames` show the vehicles alone."""
    subframes: int = 1
    """Pictures that are averaged into each one: motion blur."""
    listen: bool = False
    """The window lets other programs of this user take part."""
    sweep: tuple[tuple[str, tuple[float, ...]], ...] = ()
    """Numbers of the scene, each with the values at which it is run."""

    @property
    def moments(self) -> list[float]:
        """Lengths [s] of the intervals between pictures; the last one may be shorter."""
        whole = int(self.seconds * self.fps + 1e-9)
        rest = self.seconds - whole / self.fps
        return [1.0 / self.fps] * whole + ([rest] if rest > 1e-9 else [])

    @property
    def asks_for_files(self) -> bool:
        return self.asks_for_pictures or bool(self.csv or self.take or self.exports)

    @property
    def asks_for_pictures(self) -> bool:
        return bool(self.video or self.screenshot or self.frames)

    @property
    def files(self) -> tuple[Path, ...]:
        """All that are asked for, in the order they are told of."""
        single = (self.video, self.screenshot, self.frames, self.csv, self.take)
        return (*(path for path in single if path is not None), *self.exports)


def checked(
    *,
    seconds: float,
    size: str,
    video: Path | None,
    screenshot: Path | None,
    csv: Path | None,
    quality: str,
    demo: bool,
    take: Path | None = None,
    export: Sequence[Path] = (),
    channels: str = "",
    include: str = "",
    fps: int = FPS,
    transparent: bool = False,
    blur: int = 1,
    listen: bool = False,
    sweep: Sequence[str] = (),
) -> Request:
    """The request as typed on the command line; raises InputError with option and what is allowed."""
    low, high = SECONDS_RANGE
    if not (math.isfinite(seconds) and low <= seconds <= high):
        raise InputError(f"--seconds: {seconds} is refused; allowed: a number from {low:g} to {high:g}")
    if quality not in QUALITIES:
        raise InputError(f'--quality: unknown "{quality}"; allowed: {", ".join(QUALITIES)}')
    size_px = _parse_size(size)
    if video is not None:
        _check_ending(video, "--video", tuple(CONTAINERS))
        _check_even(size, size_px, "--video")
    if screenshot is not None:
        _check_ending(screenshot, "--screenshot", (".png",))
    if take is not None:
        _check_ending(take, "--take", (".npz",))
    _check_range("--fps", fps, FPS_RANGE)
    _check_range("--blur", blur, SUBFRAMES_RANGE)
    exports, frames = [], None
    for path in export:
        if path.suffix.lower() in CONTAINERS:
            _check_alone(path, video)
            video = path
            _check_even(size, size_px, "--export")
        elif path.suffix.lower() == ".png" and "#" in path.name:
            _check_alone(path, frames)
            frames = path
        else:
            _check_ending(path, "--export", (*ENDINGS, *CONTAINERS, "####.png"))
            exports.append(path)
    if transparent and frames is None:
        raise InputError("--transparent: refused without pictures; allowed: with --export NAME-####.png")
    wanted = _names(include)
    for name in wanted:
        if name not in INCLUDED:
            raise InputError(f"--include: unknown {quote(name)}; allowed: {', '.join(INCLUDED)}")
    if wanted and all(format_of(path).table for path in exports):
        raise InputError("--include: refused without a scene; allowed: with --export FILE.glb or .usdc")
    if channels and not any(format_of(path).table for path in exports):
        raise InputError("--channels: refused without a table; allowed: with --export FILE.csv or .npz")
    request = Request(
        seconds=seconds,
        size_px=size_px,
        video=video,
        screenshot=screenshot,
        csv=csv,
        quality=quality,
        demo=demo,
        take=take,
        exports=tuple(exports),
        frames=frames,
        channels=_names(channels),
        include=frozenset(wanted),
        fps=fps,
        transparent=transparent,
        subframes=blur,
        listen=listen,
        sweep=tuple(map(_axis, sweep)),
    )
    if request.sweep and (len(request.files) != len(exports) or not all(format_of(p).table for p in exports)):
        raise InputError("--sweep: refused beside other files; allowed: with --export FILE.csv or .npz")
    if len(dict(request.sweep)) < len(sweep):
        raise InputError("--sweep: a number is refused twice; allowed: once")
    if len({path.absolute() for path in request.files}) < len(request.files):
        raise InputError(
            "--video, --screenshot, --csv, --take, --export: two name one file; allowed: a file each"
        )
    return request


MOST_VALUES = 10_000


def _axis(text: str) -> tuple[str, tuple[float, ...]]:
    """NAME=LOW:HIGH:COUNT, or NAME=A,B,C. Raises InputError."""
    name, _, told = text.partition("=")
    try:
        if ":" in told:
            low, high, count = told.split(":")
            values = np.linspace(float(low), float(high), min(max(int(count), 1), MOST_VALUES + 1)).tolist()
        else:
            values = [float(value) for value in told.split(",")]
    except ValueError:
        values = []
    if not (name and 1 <= len(values) <= MOST_VALUES and all(map(math.isfinite, values))):
        raise InputError(
            f"--sweep: {quote(text)} is refused; allowed: NAME=LOW:HIGH:COUNT or NAME=A,B,C, up to {MOST_VALUES} values"
        )
    return name.strip(), tuple(values)


def _check_alone(path: Path, other: Path | None) -> None:
    """InputError for a second video, or a second sequence of pictures."""
    if other is not None:
        raise InputError(f"--export: {path} beside {other} is refused; allowed: one of its kind in a run")


def _names(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _check_range(option: str, value: int, allowed: tuple[int, int]) -> None:
    low, high = allowed
    if not low <= value <= high:
        raise InputError(f"{option}: {value} is refused; allowed: a whole number from {low} to {high}")


def _check_even(text: str, size_px: tuple[int, int], option: str) -> None:
    if size_px[0] % 2 or size_px[1] % 2:
        raise InputError(f"--size: {text} is refused with {option}; allowed: even width and height")


def for_fallback(request: Request, folder: Path, name: str, *, seconds: float) -> Request:
    """The video and picture that stand in for a window that cannot be opened: the autopilot's flight."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{folder} cannot be made: {error.strerror}") from None
    return replace(
        request, seconds=seconds, video=folder / f"{name}.mp4", screenshot=folder / f"{name}.png", demo=True
    )


def check_for_window(request: Request, *, timed: bool, plan: bool) -> None:
    """InputError where something is asked of a window that only a headless run does.

    timed: seconds were given. plan: a plan was asked for.
    """
    if plan:
        raise InputError("--plan: refused with a window, which has a button for it; allowed: with --headless")
    written = replace(request, exports=())
    if written.asks_for_files or request.sweep or timed:
        raise InputError(
            "--seconds, --video, --screenshot, --csv, --take, --sweep: refused with a window; "
            "allowed: with --headless"
        )
    for path in request.exports:
        live_format_of(path)
    check_places(request.exports)


def live_format_of(path: Path) -> Format:
    """Of what a window keeps writing while it flies. Raises InputError for what is written afterwards."""
    kind = format_of(path)
    if not kind.live:
        allowed = " or ".join(kind.endings[0] for kind in FORMATS if kind.live)
        raise InputError(
            f"--export: {path.name} is refused with a window; allowed: {allowed}, or with --headless"
        )
    return kind


def _parse_size(text: str) -> tuple[int, int]:
    match = re.fullmatch(r"(\d{1,5})x(\d{1,5})", text)
    low, high = SIZE_RANGE_PX
    if match is None or not all(low <= int(part) <= high for part in match.groups()):
        raise InputError(f'--size: "{text}" is refused; allowed: WIDTHxHEIGHT, each from {low} to {high}')
    return int(match[1]), int(match[2])


def _check_ending(path: Path, option: str, endings: tuple[str, ...]) -> None:
    if path.suffix.lower() not in endings:
        raise InputError(
            f'{option}: "{path}" is refused; allowed: a file name ending in {", ".join(endings)}'
        )


def who_flies(controller: str | None, autopilot: str | None) -> str | None:
    """The controller's name that is asked for by either option. Raises InputError."""
    if autopilot is None:
        return controller
    from sim.control.feedback import AUTOPILOTS

    if autopilot not in AUTOPILOTS:
        raise InputError(f"--autopilot: unknown {quote(autopilot)}; allowed: {one_of(AUTOPILOTS)}")
    if controller is not None:
        raise InputError("--autopilot: refused with --controller; allowed: one of the two")
    return autopilot


def check_autopilot(vehicle: Vehicle) -> None:
    """InputError where there is none for the vehicle."""
    from sim.control import has_autopilot, vehicles_with_autopilot

    if not has_autopilot(vehicle):
        raise InputError(
            f"--demo: no autopilot knows the {vehicle.name}; allowed: {one_of(vehicles_with_autopilot())}"
        )


F = TypeVar("F", bound=Callable[..., Any])
_FILE: Any = PathType(path_type=Path)


def _tell_version(context: click.Context, _option: click.Parameter, asked: bool) -> None:
    """As it was installed."""
    if not asked:
        return
    from importlib import metadata  # takes a while, and nobody else asks

    try:
        version = metadata.version("holonomy")
    except metadata.PackageNotFoundError:
        version = "from sources that are not installed"
    click.echo(f"holonomy {version}")
    context.exit()


_OPTIONS = (
    option(
        "--version",
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=_tell_version,
        help="Tell the version and leave.",
    ),
    option("--list", "list_scenes", is_flag=True, help="List the scenes and leave."),
    option("--headless", is_flag=True, help="Run without a window."),
    option("--seconds", type=float, help="Simulated seconds of a headless run: 10, or all of a plan."),
    option("--plan", is_flag=True, help="Headless: solve the scene's task and fly the plan."),
    option("--video", type=_FILE, help="Headless: H.264 video (.mp4, .mkv, .mov)."),
    option("--screenshot", type=_FILE, help="Headless: the last picture (.png)."),
    option("--csv", type=_FILE, help="Headless: states and controls, a row a picture."),
    option("--take", type=_FILE, help="Headless: what was flown, as a take (.npz)."),
    option(
        "--export",
        "export_files",
        type=_FILE,
        metavar="FILE",
        multiple=True,
        help=f"Headless: {', '.join(kind.endings[0] for kind in FORMATS)}, .mp4 or NAME-####.png; "
        "in flight: .mcap, .rrd; repeatable.",
    ),
    option(
        "--sweep",
        metavar="NAME=A:B:N",
        multiple=True,
        help="Headless: at N values of a gain, a parameter or the step, a row of --export FILE.csv each; repeatable.",
    ),
    option("--channels", default="", metavar="A,B", help="Of exported tables: only these; all without."),
    option("--include", default="", metavar="A,B", help="In exported scenes: terrain, camera."),
    option("--fps", default=30, help="Headless: pictures, rows and keys a second."),
    option("--transparent", is_flag=True, help="NAME-####.png: the vehicles alone."),
    option("--blur", default=1, help="Motion blur: sub-frames averaged into a picture."),
    option("--size", default="1280x800", metavar="WxH", help="Size of window or picture."),
    option("--demo", is_flag=True, help="The autopilot flies."),
    option("--quality", default="auto", help="auto, high, medium, low or software."),
    option("--vehicle", help="Instead of the scene's vehicle."),
    option("--model", metavar="FILE", help="A robot's URDF or MJCF file instead of the scene's vehicle."),
    option("--integrator", help="Instead of the scene's integrator."),
    option("--step", type=float, help="Instead of the scene's step [s]."),
    option(
        "--controller", metavar="NAME", help="Who flies: pid, lqr, mpc, geometric, sliding, or FILE.py:CLASS."
    ),
    option("--autopilot", metavar="NAME", help="A program beside this one flies: ardupilot (UDP port 9002)."),
    option("--camera", help="Instead of the scene's camera."),
    option(
        "--ghost",
        type=_FILE,
        metavar="FILE",
        help="Measured poses (.csv) or a take (.npz) beside what is simulated.",
    ),
    option("--trust", is_flag=True, help="Trust the folder of the vehicle's program, now and from now on."),
    option("--fallback", type=_FILE, metavar="DIR", help="Without a display, render the scene into DIR."),
    option("--listen", is_flag=True, help="Window: let other programs of yours take part (sim.connect)."),
    option("--probe", type=_FILE, metavar="FILE", help="Window: keep writing what it shows, as JSON."),
)


def with_options(command: F) -> F:
    """A function that takes them all by name, in the order in which help tells them."""
    for add in reversed(_OPTIONS):
        command = add(command)
    return command
