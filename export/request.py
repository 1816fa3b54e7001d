"""What a headless run is asked for, checked before anything costly starts."""

import math
import re
from dataclasses import dataclass, replace
from pathlib import Path

from export.output import OutputError
from sim.errors import InputError

FPS = 30
CONTAINERS = {".mp4": "mp4", ".mkv": "matroska", ".mov": "mov"}
"""File endings of videos, and what the muxer calls them."""
QUALITIES = ("auto", "high", "medium", "low", "software")
SIZE_RANGE_PX = (16, 7680)
SECONDS_RANGE = (0.0, 86_400.0)


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

    @property
    def asks_for_files(self) -> bool:
        return self.asks_for_pictures or self.csv is not None or self.take is not None

    @property
    def asks_for_pictures(self) -> bool:
        return self.video is not None or self.screenshot is not None


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
        if size_px[0] % 2 or size_px[1] % 2:
            raise InputError(f"--size: {size} is refused with --video; allowed: even width and height")
    if screenshot is not None:
        _check_ending(screenshot, "--screenshot", (".png",))
    if take is not None:
        _check_ending(take, "--take", (".npz",))
    files = [path for path in (video, screenshot, csv, take) if path is not None]
    if len({path.absolute() for path in files}) < len(files):
        raise InputError("--video, --screenshot, --csv, --take: two name one file; allowed: a file each")
    return Request(seconds, size_px, video, screenshot, csv, quality, demo, take)


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
            "--seconds, --video, --screenshot, --csv, --take: refused with a window; allowed: with --headless"
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
