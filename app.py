"""The entry: parse, load a scene, wire simulation, renderer and panels, run."""

import gc
import sys
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    gc.disable()  # until something is shown: what is loaded stays, and to search it for cycles takes a sixth of a start
    del __file__  # worker processes would run it first, and need nothing of it

import click

import export.request
from export.output import OutputError
from render.errors import DisplayError
from sim.platform.errors import InputError, UntrustedFile, shortened
from sim.platform.signals import ended_by_signals
from sim.scene import load_scene, scene_names
from sim.vehicles import robot_reference

EXIT_FAILED, EXIT_BAD_INPUT, EXIT_INTERRUPTED, BEFORE_THE_ANSWER = 1, 2, 130, "plain"
FALLBACK_SECONDS, USUAL_SECONDS = 12.0, 10.0


@click.command(help="Open a scene in a window, or run it without one (--headless).")
@click.argument(
    "scene", default="canyon", help="A scene (--list), .toml, take (.npz), vehicle's folder; or: doctor."
)
@export.request.with_options
def run(
    scene: str,
    *,
    list_scenes: bool,
    headless: bool,
    seconds: float | None,
    plan: bool,
    video: Path | None,
    screenshot: Path | None,
    csv: Path | None,
    take: Path | None,
    export_files: tuple[Path, ...],
    sweep: tuple[str, ...],
    channels: str,
    include: str,
    fps: int,
    transparent: bool,
    blur: int,
    size: str,
    demo: bool,
    quality: str,
    vehicle: str | None,
    model: str | None,
    integrator: str | None,
    step: float | None,
    controller: str | None,
    autopilot: str | None,
    camera: str | None,
    ghost: Path | None,
    trust: bool,
    fallback: Path | None,
    listen: bool,
    probe: Path | None,
) -> None:
    """Parse, check, and hand over to a headless run or the window."""
    if list_scenes:
        for name in scene_names():
            print(f"{name:{max(map(len, scene_names()))}}  {load_scene(name).title}")
        return
    if scene == "doctor":
        raise click.exceptions.Exit(import_module("ui.desktop.doctor").run())
    if ghost is not None or scene.endswith(".npz"):
        from sim.simulation import opening  # takes a second, as all that simulates
    at_first = () if ghost is None else opening.ghost_commands(ghost)
    vehicle = vehicle if model is None else robot_reference(model, vehicle)
    chosen: dict[str, Any] = {"vehicle": vehicle, "integrator": integrator, "step_s": step}
    chosen |= {"camera": camera, "controller": export.request.who_flies(controller, autopilot)}
    known = import_module("studies.ledger.scenes").load_problem if scene.startswith("ledger-") else load_scene
    timed, read, untrusted = seconds is not None, partial(known, scene, trusted=trust, **chosen), None
    if scene.endswith(".npz"):
        loaded, shown, duration_s = opening.open_take(scene, **chosen, trusted=trust)
        at_first = (*shown, *at_first)
        seconds = duration_s if seconds is None else seconds
        if plan or sweep:
            raise InputError("--plan, --sweep: refused with a take; allowed: with a scene")
    else:
        try:
            loaded = read()
        except UntrustedFile as refusal:
            if headless:
                raise
            untrusted, loaded = refusal, load_scene(BEFORE_THE_ANSWER)  # in which the window asks
    if demo and untrusted is None:
        export.request.check_autopilot(loaded.vehicle)
    request = export.request.checked(
        seconds=USUAL_SECONDS if seconds is None else seconds,
        size=size,
        video=video,
        screenshot=screenshot,
        csv=csv,
        quality=quality,
        demo=demo,
        take=take,
        export=export_files,
        sweep=sweep,
        channels=channels,
        include=include,
        fps=fps,
        transparent=transparent,
        blur=blur,
        listen=listen,
    )
    if not headless:
        from ui.desktop import run_window  # the windowing library is for who opens one

        export.request.check_for_window(request, timed=timed, plan=plan)
        if not (why := run_window(loaded, request, probe, at_first, (scene, read) if untrusted else None)):
            return
        if untrusted is not None or fallback is None:
            raise untrusted or OutputError(f"{why}; --headless runs without a window")
        print(f"{why}: the scene is rendered without a window instead.", flush=True)
        request = export.request.for_fallback(request, fallback, loaded.name, seconds=FALLBACK_SECONDS)
    from export.headless import run_headless  # takes a second: refusals and lists do not wait for it

    run_headless(loaded, request, plan=plan, seconds=seconds, at_first=at_first, read=read)


def main(arguments: list[str] | None = None) -> int:
    """Exit status: 0 all that was asked for was done, 1 it could not be, 2 bad input, else as shells have it."""
    try:
        with ended_by_signals():
            return run(arguments, standalone_mode=False) or 0
    except InputError as error:
        status, message = EXIT_BAD_INPUT, str(error)
    except click.ClickException as error:
        status, message = EXIT_BAD_INPUT, shortened(error.format_message())
    except (OutputError, DisplayError) as error:
        status, message = EXIT_FAILED, str(error)
    except (KeyboardInterrupt, click.Abort):
        status, message = EXIT_INTERRUPTED, "interrupted"
    print(f"holonomy: {message}", file=sys.stderr)
    return status


if __name__ == "__main__":
    sys.exit(main())
