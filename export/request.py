"""What motions are written as, by the ending of the file; told apart from the writing, which takes time to load."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from export.output import OutputError
from sim.platform.errors import InputError, one_of, quote

SCENES = (".glb", ".usd", ".usda", ".usdc")
TABLES = (".csv", ".npz")
ENDINGS = (*SCENES, *TABLES)


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
    if wanted and all(path.suffix.lower() in TABLES for path in exports):
        raise InputError("--include: refused without a scene; allowed: with --export FILE.glb or .usdc")
    if channels and not any(path.suffix.lower() in TABLES for path in exports):
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
    )
    if len({path.absolute() for path in request.files}) < len(request.files):
        raise InputError(
            "--video, --screenshot, --csv, --take, --export: two name one file; allowed: a file each"
        )
    return request


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
    if request.asks_for_files or timed:
        raise InputError(
            "--seconds, --video, --screenshot, --csv, --take, --export: refused with a window; allowed: with --headless"
        )


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


def check_autopilot(vehicle: str) -> None:
    """InputError where there is none for the vehicle."""
    from sim.control import has_autopilot, vehicles_with_autopilot

    if not has_autopilot(vehicle):
        raise InputError(
            f"--demo: no autopilot knows the {vehicle}; allowed: {one_of(vehicles_with_autopilot())}"
        )
