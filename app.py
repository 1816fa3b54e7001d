"""The entry: parse, load a scene, wire simulation, renderer and panels, run."""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from pathlib import Path
from pickle import UnpicklingError
from typing import Annotated

import typer

import export.request
from export.output import OutputError
from export.progress import shown
from export.request import Request
from sim.cache import cache_dir
from sim.commands import Command, PlayTake, Resimulate, SetDemo
from sim.errors import InputError
from sim.scene import Scene, load_scene, scene_names, with_overrides
from sim.vehicles import enter_own, is_reference

EXIT_FAILED, EXIT_BAD_INPUT = 1, 2
FALLBACK_SECONDS, USUAL_SECONDS = 12.0, 10.0

cli = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@cli.command(help="Open a scene in a window, or run it without one (--headless).")
def run(
    scene: Annotated[
        str, typer.Argument(help="Name of a scene (--list), a .toml file, or a take (.npz).")
    ] = "canyon",
    list_scenes: Annotated[bool, typer.Option("--list", help="List the scenes and leave.")] = False,
    headless: Annotated[bool, typer.Option("--headless", help="Run without a window.")] = False,
    seconds: Annotated[
        float | None, typer.Option(help="Simulated seconds of a headless run: 10, or all of a plan.")
    ] = None,
    plan: Annotated[
        bool, typer.Option("--plan", help="Headless: solve the scene's task and fly the plan.")
    ] = False,
    video: Annotated[Path | None, typer.Option(help="Headless: H.264 video (.mp4, .mkv, .mov).")] = None,
    screenshot: Annotated[Path | None, typer.Option(help="Headless: the last picture (.png).")] = None,
    csv: Annotated[Path | None, typer.Option(help="Headless: states and controls, 30 rows a second.")] = None,
    take: Annotated[Path | None, typer.Option(help="Headless: what was flown, as a take (.npz).")] = None,
    size: Annotated[str, typer.Option(metavar="WxH", help="Size of window or picture.")] = "1280x800",
    demo: Annotated[bool, typer.Option("--demo", help="The autopilot flies.")] = False,
    quality: Annotated[str, typer.Option(help="auto, high, medium, low or software.")] = "auto",
    vehicle: Annotated[str | None, typer.Option(help="Instead of the scene's vehicle.")] = None,
    integrator: Annotated[str | None, typer.Option(help="Instead of the scene's integrator.")] = None,
    step: Annotated[float | None, typer.Option(help="Instead of the scene's step [s].")] = None,
    camera: Annotated[str | None, typer.Option(help="Instead of the scene's camera.")] = None,
    fallback: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Without a display, render the scene into DIR.")
    ] = None,
    probe: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Window: keep writing what it shows, as JSON.")
    ] = None,
) -> None:
    """Parse, check, and hand over to a headless run or the window."""
    if list_scenes:
        print_scenes()
        return
    timed = seconds is not None
    at_first: tuple[Command, ...] = ()
    if scene.endswith(".npz"):
        loaded, at_first, duration_s = open_take(
            scene, vehicle=vehicle, integrator=integrator, step_s=step, camera=camera
        )
        seconds = duration_s if seconds is None else seconds
        if plan:
            raise InputError("--plan: refused with a take; allowed: with a scene")
    else:
        loaded = with_overrides(
            load_scene(scene), vehicle=vehicle, integrator=integrator, step_s=step, camera=camera
        )
    if demo:
        check_autopilot(loaded.vehicle)
    request = export.request.checked(
        seconds=USUAL_SECONDS if seconds is None else seconds,
        size=size,
        video=video,
        screenshot=screenshot,
        csv=csv,
        quality=quality,
        demo=demo,
        take=take,
    )
    if headless:
        run_headless(loaded, request, plan=plan, seconds=seconds, at_first=at_first)
    elif plan:
        raise InputError("--plan: refused with a window, which has a button for it; allowed: with --headless")
    elif request.asks_for_files or timed:
        raise InputError(
            "--seconds, --video, --screenshot, --csv, --take: refused with a window; allowed: with --headless"
        )
    elif no_window := run_window(loaded, request, probe, at_first):
        if fallback is None:
            raise OutputError(f"{no_window}; --headless runs without a window")
        print(f"{no_window}: the scene is rendered without a window instead.", flush=True)
        run_headless(
            loaded, export.request.for_fallback(request, fallback, loaded.name, seconds=FALLBACK_SECONDS)
        )


def check_autopilot(vehicle: str) -> None:
    """InputError where there is none for the vehicle."""
    from sim.pilot import has_autopilot

    if not has_autopilot(vehicle):
        raise InputError(f"--demo: no autopilot knows the {vehicle}; allowed: with the helicopter")


def print_scenes() -> None:
    """One line a scene."""
    width = max(map(len, scene_names()))
    for name in scene_names():
        print(f"{name:{width}}  {load_scene(name).title}")


def prepare(scene: Scene):
    """World and simulation of a scene, with progress on the terminal."""
    from sim.simulation import Simulation
    from sim.world import load_world

    with shown(f"World: {scene.world}"):
        world = load_world(scene.world, seed=scene.seed)
    with shown("Compiled kernels") as report:
        simulation = Simulation(scene, world, progress=report)
    return world, simulation


def open_take(
    path: str,
    *,
    vehicle: str | None,
    integrator: str | None,
    step_s: float | None,
    camera: str | None,
) -> tuple[Scene, tuple[Command, ...], float]:
    """(its scene, what shows it there, its seconds); resimulated beside it where a method or a step is given."""
    from sim.take import load_take
    from sim.take.scene import scene_of

    if vehicle is not None:
        if not is_reference(vehicle):
            raise InputError("--vehicle: a take has its own; allowed: FILE.py:CLASS, which tells what it was")
        enter_own(vehicle)
    taken = load_take(path)
    scene = with_overrides(scene_of(taken), camera=camera)
    commands: tuple[Command, ...] = (PlayTake(taken),)
    if integrator is not None or step_s is not None:
        method = integrator or taken.integrator.name
        with_overrides(scene, vehicle=taken.vehicle.name, integrator=method, step_s=step_s)
        commands += (Resimulate(integrator or "", step_s),)
    return scene, commands, taken.duration_s


def run_headless(
    scene: Scene,
    request: Request,
    *,
    plan: bool = False,
    seconds: float | None = None,
    at_first: tuple[Command, ...] = (),
) -> None:
    """Simulate without a window and write the files asked for.

    plan: solve the scene's task first and fly the outcome, to its end unless `seconds` says otherwise.
    at_first: what is asked of the simulation.
    """
    from export import headless

    world, simulation = prepare(scene)
    if plan:
        from export.planned import planned_flight

        with shown("Planned"):
            command, duration_s, told = planned_flight(scene, world)
        print(told)
        simulation.submit(command)
        request = replace(request, seconds=duration_s if seconds is None else seconds)

    for asked in at_first:
        simulation.submit(asked)

    def studio():
        from export.studio import Studio

        return Studio(scene, world, size_px=request.size_px, quality=request.quality)

    with shown("Running") as report:
        last = headless.run(simulation, request, studio=studio, report=report)
    lane = last.lanes[0]
    x, y, z = lane.T_wb[:3, 3]
    print(
        f"{scene.name}: {last.clock_s:g} s, {lane.vehicle} under {lane.integrator}, h = {lane.step_s:g} s, "
        f"{lane.status.value} at ({x:.1f}, {y:.1f}, {z:.1f}) m {lane.status_text}".rstrip()
    )
    for path in (request.video, request.screenshot, request.csv, request.take):
        if path is not None:
            print(f"wrote {path}")


def run_window(scene: Scene, request: Request, probe: Path | None, at_first: tuple[Command, ...] = ()) -> str:
    """Open the window and fly until it is closed; returns why where there can be no window, else nothing."""
    if sys.platform.startswith("linux") and not os.environ.get("DISPLAY"):
        return "no display was found (DISPLAY is not set)"
    from export.probe import Probe
    from loader import Loader
    from opening import opened
    from render.errors import DisplayError
    from render.quality import detect
    from ui.window import AppWindow

    try:
        window = AppWindow(size=request.size_px, title=f"Holonomy: {scene.title}")
    except DisplayError as error:
        return str(error)
    quality = detect(window.ctx) if request.quality == "auto" else request.quality
    watched = Probe(probe) if probe else None
    with ExitStack() as resources:
        resources.callback(window.close)
        loader = resources.enter_context(closing(Loader()))
        commands = (SetDemo(True), *at_first) if request.demo else at_first
        loader.load(lambda: scene, quality, commands=commands)
        loaded = opened(window, loader, scene.title, watched)
        if loaded is not None:
            from session import Session

            session = resources.enter_context(closing(Session(window, loader, loaded)))
            session.run(watched)
    return ""


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """Being asked to end, or losing the terminal, leaves by the way that Ctrl+C takes: what was flown is saved."""
    before = {}

    def leave(number: int, _frame: object) -> None:
        signal.signal(number, signal.SIG_IGN)  # once: the second must not stop the saving
        raise SystemExit(128 + number)

    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) == signal.SIG_DFL:
            before[number] = signal.signal(number, leave)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def main() -> int:
    """Exit status: 0 all that was asked for was done, 1 it could not be, 2 bad input, else as shells have it."""
    from render.errors import DisplayError

    try:
        with ended_by_signals():
            return cli(standalone_mode=False) or 0
    except InputError as error:
        status, message = EXIT_BAD_INPUT, str(error)
    except typer.TyperException as error:
        status, message = EXIT_BAD_INPUT, error.format_message()
    except (OutputError, DisplayError) as error:
        status, message = EXIT_FAILED, str(error)
    except UnpicklingError:
        # Nothing but compiled functions is unpickled.
        folder = cache_dir("kernels").parent
        status, message = EXIT_FAILED, f"compiled functions in {folder} are damaged; delete that folder"
    except (KeyboardInterrupt, typer.Abort):
        status, message = EXIT_FAILED, "interrupted"
    print(f"holonomy: {message}", file=sys.stderr)
    return status


if __name__ == "__main__":
    sys.exit(main())
