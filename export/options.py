"""Options of the command line."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click
from click import Path as PathType
from click import option

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
        help="Headless: .glb, .usdc, .csv, .npz, .mp4 or NAME-####.png; repeatable.",
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
    option("--camera", help="Instead of the scene's camera."),
    option(
        "--ghost",
        type=_FILE,
        metavar="FILE",
        help="Measured poses (.csv) or a take (.npz) beside what is simulated.",
    ),
    option("--trust", is_flag=True, help="Trust the folder of the vehicle's program, now and from now on."),
    option("--fallback", type=_FILE, metavar="DIR", help="Without a display, render the scene into DIR."),
    option("--probe", type=_FILE, metavar="FILE", help="Window: keep writing what it shows, as JSON."),
)


def with_options(command: F) -> F:
    """A function that takes them all by name, in the order in which help tells them."""
    for add in reversed(_OPTIONS):
        command = add(command)
    return command
