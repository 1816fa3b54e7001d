"""Options of the command line, as typer reads them."""

from pathlib import Path
from typing import Annotated

from typer import Option

Headless = Annotated[bool, Option("--headless", help="Run without a window.")]
Seconds = Annotated[float | None, Option(help="Simulated seconds of a headless run: 10, or all of a plan.")]
PlanFirst = Annotated[bool, Option("--plan", help="Headless: solve the scene's task and fly the plan.")]
Video = Annotated[Path | None, Option(help="Headless: H.264 video (.mp4, .mkv, .mov).")]
Screenshot = Annotated[Path | None, Option(help="Headless: the last picture (.png).")]
Csv = Annotated[Path | None, Option(help="Headless: states and controls, a row a picture.")]
TakeFile = Annotated[Path | None, Option(help="Headless: what was flown, as a take (.npz).")]
ExportFiles = Annotated[
    list[Path] | None,
    Option(
        "--export",
        metavar="FILE",
        help="Headless: .glb, .usdc, .csv, .npz, .mp4 or NAME-####.png; repeatable.",
    ),
]
Channels = Annotated[str, Option(metavar="A,B", help="Of exported tables: only these; all without.")]
Include = Annotated[str, Option(metavar="A,B", help="In exported scenes: terrain, camera.")]
Fps = Annotated[int, Option(help="Headless: pictures, rows and keys a second.")]
Transparent = Annotated[bool, Option("--transparent", help="NAME-####.png: the vehicles alone.")]
Blur = Annotated[int, Option(help="Motion blur: sub-frames averaged into a picture.")]
Size = Annotated[str, Option(metavar="WxH", help="Size of window or picture.")]
Demo = Annotated[bool, Option("--demo", help="The autopilot flies.")]
Quality = Annotated[str, Option(help="auto, high, medium, low or software.")]
VehicleName = Annotated[str | None, Option("--vehicle", help="Instead of the scene's vehicle.")]
Model = Annotated[
    str | None, Option(metavar="FILE", help="A robot's URDF or MJCF file instead of the scene's vehicle.")
]
Method = Annotated[str | None, Option("--integrator", help="Instead of the scene's integrator.")]
Step = Annotated[float | None, Option(help="Instead of the scene's step [s].")]
CameraKind = Annotated[str | None, Option("--camera", help="Instead of the scene's camera.")]
Ghost = Annotated[
    Path | None,
    Option(
        "--ghost", metavar="FILE", help="Measured poses (.csv) or a take (.npz) beside what is simulated."
    ),
]
Trust = Annotated[bool, Option("--trust", help="Run a vehicle's file from outside the scene's folder.")]
Fallback = Annotated[Path | None, Option(metavar="DIR", help="Without a display, render the scene into DIR.")]
ProbeFile = Annotated[
    Path | None, Option("--probe", metavar="FILE", help="Window: keep writing what it shows, as JSON.")
]
