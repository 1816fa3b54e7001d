"""This checkout against another one, side by side: `python benchmarks/against.py OTHER [--only kernels] [--rounds 3]`.

Machine code of pairs that were never seen, kernels of methods and vehicles, whole runs of `sim.simulate`, many lanes at
once by `sim.batch`, gradients of rollouts, a script's sweep of 100 variants, plans and what they cost, frames of the
canyon, its start from empty caches, and (where there is a display) the first picture in its window after a start from
full ones and from bytecode, in CPU time (user and system).
Checkouts take turns, round after round, so that a busy machine slows both alike; all but starts by several processes of
each, since where one happens to keep its data is worth up to a half.
Medians over rounds and processes. Only what both checkouts have is compared.
"""

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

HERE = Path(__file__).resolve().parents[1]
PARTS = ("made", "kernels", "simulate", "batch", "gradient", "sweep", "plans", "frames", "cold", "start")
METHODS = (
    "variational",
    "variational-cay",
    "variational-exp",
    "variational-split",
    "variational-4",
    "symplectic-half",
    "lie-euler",
    "rkmk4",
    "rkmk4-2c",
    "cf4",
    "crouch-grossman3",
    "newmark",
    "rkmk54",
    "rk2",
    "rk4",
    "implicit-rk2",
    "variational-spheres",
)
VEHICLES = ("rigid-body", "helicopter", "spacecraft", "boat", "car", "snakeboard", "pendulum links=3")
FREE = VEHICLES[:4]
"""Their first state moves in no way: they are set in motion."""
STEP_S, STEPS = 0.01, 4000
MADE = (
    ("helicopter", "variational"),
    ("helicopter", "variational-6"),
    ("helicopter", "rkmk54"),
    ("helicopter", "galerkin-6"),
    ("heavy-top", "variational"),
    ("car", "variational"),
    ("snakeboard", "variational"),
    ("bicycle", "variational"),
    ("car-with-trailers", "variational"),
    ("quadrotors-with-load", "rkmk4"),
    ("helicopter-with-load", "rkmk4"),
    ("pendulum links=3", "rkmk4"),
    ("pendulum links=3", "variational-spheres"),
)
TOGETHER = (
    ("helicopter", "variational"),
    ("helicopter", "variational", "canyon"),
    ("helicopter", "rkmk4"),
    ("spacecraft", "variational"),
    ("car", "variational"),
    ("snakeboard", "rk4"),
    ("pendulum links=3", "rkmk4"),
)
"""Vehicle, method and perhaps the world over whose ground they fly."""
ROLLED = (
    ("helicopter", "variational"),
    ("helicopter", "rkmk4"),
    ("spacecraft", "variational"),
    ("car", "variational"),
    ("snakeboard", "rk4"),
    ("pendulum links=3", "rkmk4"),
)
PLANNED = {
    "boat-docking boat-slalom boat-station": ((0.8, 0.0, 0.0, 0.7), (-0.8, 0.0, 0.0, 0.7)),
    "car-chicane car-parking": tuple((x, 0.0, 0.0, 0.95) for x in (0.0, 1.2, 2.4)),
    "canyon helicopter-canyon": ((0.0, 0.0, 0.0, 6.0),),
    "helicopter-landing": ((0.0, 0.0, 0.0, 1.3),),
    "sling": ((0.0, 0.0, 0.0, 6.0), (0.0, 0.0, 0.0, 0.8)),
    "quadrotor-gates": ((0.0, 0.0, 0.0, 0.35),),
    "spacecraft-rendezvous": ((1.2, 0.0, 0.0, 1.6), (-1.6, 0.0, 0.0, 1.6)),
    "pendulum-swing-up rigid-body-turn snakeboard-sideways": ((0.0, 0.0, 0.0, 0.0),),
}
"""Scenes whose tasks are the same in all checkouts but for the balls that stand for their craft, which are these, about
their frames where there is ground, which is grown by them."""
DRAGS, ASIDE_M = 40, 60.0
LANES, LANE_STEPS, ROLLED_STEPS = 512, 200, 1000
VARIANTS = 100
FRAMES, SIZE_PX, SCALE = 4, (1280, 800), 0.5
AT_ONCE = 7
"""Measurements of a kernel in a row, of which the least counts: a switch of tasks in between costs it its cache."""


def cpu_s(work: Callable[[], object]) -> float:
    """CPU seconds that it takes."""
    begun = time.process_time()
    work()
    return time.process_time() - begun


def craft_of(vehicle: str) -> Any:
    """A vehicle by its name, perhaps with parameters: "pendulum links=3"."""
    import sim

    name, *given = vehicle.split()
    parameters = {key: float(value) for key, value in (each.split("=") for each in given)}
    return sim.vehicle(name, **parameters)


def kernel(vehicle: str, method: str) -> Callable[[], float]:
    """Microseconds a step of rollouts from the vehicle's first state, its controls neutral."""
    import numpy as np

    import sim
    from sim.compiler import compile_kernel

    craft = craft_of(vehicle)
    made = compile_kernel(craft, sim.integrators()[method])
    p, u, node = craft.parameter_vector, craft.neutral_controls, craft.default_state().node.copy()
    if vehicle in FREE:
        node[craft.node_layout.velocity] += 0.3 * np.sin(1.0 + np.arange(craft.group.dim))
    begin = made.start(node, u, p, STEP_S)
    advance = getattr(made, "advance", None) or made.rollout  # type: ignore[attr-defined]  # of older checkouts

    def measured() -> float:
        took = []
        for _ in range(AT_ONCE):
            y = begin.copy()
            took.append(cpu_s(lambda y=y: advance(y, u, np.zeros(made.dim), p, STEP_S, STEPS)))
        return min(took) / STEPS * 1e6

    return measured


def made(vehicle: str, method: str) -> Callable[[], float]:
    """CPU seconds until a kernel is there for the first time; what does not depend on the pair has been made before."""
    import sim
    from sim.compiler import compile_kernel, kernel

    craft, scheme = craft_of(vehicle), sim.integrators()[method]
    compile_kernel(sim.vehicle("rigid-body"), sim.integrators()["newmark"])

    def measured() -> float:
        for name in [name for name in sys.modules if name.startswith("holonomy_")]:
            del sys.modules[name]
        for known in (kernel._compiled, kernel._generated):
            known.cache_clear()
        before = os.environ.get("HOLONOMY_CACHE")
        with tempfile.TemporaryDirectory() as empty:
            os.environ["HOLONOMY_CACHE"] = empty
            try:
                return cpu_s(lambda: compile_kernel(craft, scheme))
            finally:
                os.environ.pop("HOLONOMY_CACHE")
                if before is not None:
                    os.environ["HOLONOMY_CACHE"] = before

    return measured


def simulation(vehicle: str, method: str) -> Callable[[], float]:
    """Microseconds a step of whole runs, as a script asks for them, and that looks at the energy."""
    import sim

    craft = craft_of(vehicle)

    def measured() -> float:
        runs = [
            cpu_s(lambda: sim.simulate(craft, method, step=STEP_S, duration=STEP_S * STEPS).energy)
            for _ in range(AT_ONCE)
        ]
        return min(runs) / STEPS * 1e6

    return measured


def batch(vehicle: str, method: str, world: str = "") -> Callable[[], float]:
    """Microseconds of all threads a step of each of many lanes, which set out at different rates."""
    import numpy as np

    import sim
    from sim.world import load_world

    craft, over = craft_of(vehicle), load_world(world, seed=7) if world else None
    above_m = np.array([0.0, 0.0, 4.0])
    first = craft.default_state() if over is None else craft.state(x=over.pads[0].centre_w + above_m)
    nodes = np.repeat(first.node[None], LANES, axis=0)
    size = craft.node_layout.velocity.stop - craft.node_layout.velocity.start
    nodes[:, craft.node_layout.velocity] += 0.2 * np.random.default_rng(3).standard_normal((LANES, size))

    def fly() -> None:
        sim.batch(craft, method, nodes, step=STEP_S, duration=STEP_S * LANE_STEPS, world=over)

    fly()
    return lambda: min(cpu_s(fly) for _ in range(AT_ONCE)) / (LANES * LANE_STEPS) * 1e6


def gradient(vehicle: str, method: str) -> Callable[[], float]:
    """Microseconds a step of a rollout with the gradient of the sum of its nodes by all controls and its begin."""
    import numpy as np

    import sim

    craft = craft_of(vehicle)
    t = STEP_S * np.arange(ROLLED_STEPS)[:, None]
    controls = craft.neutral_controls + 0.01 * np.sin(t * (1.0 + 0.3 * np.arange(len(craft.controls))))
    weights = np.ones((ROLLED_STEPS + 1, craft.node_layout.size))

    def roll() -> None:
        duration = STEP_S * ROLLED_STEPS
        sim.rollout_gradient(craft, method, step=STEP_S, duration=duration, controls=controls).adjoint(
            weights
        )

    roll()
    return lambda: min(cpu_s(roll) for _ in range(AT_ONCE)) / ROLLED_STEPS * 1e6


def sweep(vehicle: str, parameter: str) -> Callable[[], float]:
    """CPU seconds of a step of each of many variants, of which one parameter grows by up to a tenth."""
    import sim

    craft = sim.vehicle(vehicle)
    usual = craft.values[parameter]

    def fly() -> None:
        for k in range(VARIANTS):
            variant = craft.with_parameters(**{parameter: usual * (1 + 0.1 * k / VARIANTS)})
            sim.simulate(variant, "variational", step=STEP_S, duration=STEP_S)

    return lambda: cpu_s(fly)


def plans(what: str, scene: str) -> Callable[[], float]:
    """Of a plan from its first guess alone, whose problem is built: what it costs (infinite: it is none), or the CPU
    milliseconds that it takes, or a place takes while its goal is dragged in a figure of eight, in the median."""
    from dataclasses import replace

    import numpy as np

    from benchmarks.planner import drags, loaded
    from sim.planner import Planner, safe_ground

    vehicle, task = loaded(f"plan-{scene}")
    balls, planner = next(balls for scenes, balls in PLANNED.items() if scene in scenes.split()), Planner()
    task = replace(task, body=balls, bodies=task.bodies if len(task.bodies) == len(balls) else ())
    if task.ground is not None:
        ends = [state.node[vehicle.group.position][:2] for state in (task.start, task.goal.state)]
        low, high = (np.min(ends, axis=0) - ASIDE_M).tolist(), (np.max(ends, axis=0) + ASIDE_M).tolist()
        margin_m = max(ball[3] for ball in balls) + task.clearance_m
        task = replace(
            task, ground=safe_ground(task.ground.terrain, margin_m=margin_m, low_m=low, high_m=high)
        )
    first = planner.plan(vehicle, task, explain=False, starts=1)
    if what == "cost":
        return lambda: float(first.cost) if first.solved else float("inf")
    if what == "cold":
        return lambda: 1e3 * cpu_s(lambda: planner.plan(vehicle, task, explain=False, starts=1))

    def dragged() -> float:
        plan, took = first, []
        for place in drags(vehicle, task, DRAGS):
            begun = time.process_time()
            with contextlib.suppress(ValueError):  # a place in an obstacle
                new = planner.plan(vehicle, place, warm=plan, explain=False)
                took.append(time.process_time() - begun)
                plan = new if new.solved else plan
        return 1e3 * median(took)

    return dragged


def frames(quality: str) -> Callable[[], float]:
    """Milliseconds a frame of a flight down the canyon, drawn at half its size along each side by software."""
    import moderngl

    sys.path.append(str(Path.cwd() / "benchmarks"))
    from frame_time import flight

    from render.renderer import Renderer
    from sim.world import load_world

    try:
        from render.passes.targets import Canvas
    except ImportError:  # an earlier checkout
        from render.canvas import Canvas  # type: ignore[import-not-found, no-redef]

    ctx = moderngl.create_context(standalone=True, backend="egl", require=410)
    world = load_world("canyon", seed=7)
    renderer, canvas = Renderer(ctx, SIZE_PX, world, quality=quality), Canvas(ctx, SIZE_PX)
    views = list(flight(world, FRAMES, SIZE_PX))
    if renderer.quality.resolution_scale > SCALE:
        renderer.set_effort(SCALE)  # as many pixels as an earlier checkout draws

    def draw() -> None:
        for view in views:
            renderer.draw(view, canvas.framebuffer)
            ctx.finish()

    draw()
    return lambda: cpu_s(draw) / FRAMES * 1e3


MEASURED: dict[str, Callable[..., Callable[[], float]]] = {
    "made": made,
    "kernels": kernel,
    "simulate": simulation,
    "batch": batch,
    "gradient": gradient,
    "sweep": sweep,
    "plans": plans,
    "frames": frames,
}


def work() -> None:
    """Answer with one number for every line [part, arguments]; null for what this checkout cannot do."""
    out = os.dup(1)
    os.dup2(2, 1)  # what others print is no answer
    known: dict[str, Callable[[], float] | None] = {}
    for line in sys.stdin:
        if line not in known:
            part, arguments = json.loads(line)
            known[line] = None
            with contextlib.suppress(ValueError, KeyError):  # a refusal: that vehicle or method is not there
                known[line] = MEASURED[part](*arguments)
        ready, answer = known[line], None
        with contextlib.suppress(ValueError):
            answer = ready() if ready else None
        os.write(out, (json.dumps(answer) + "\n").encode())


class Checkout:
    """One process that measures in a checkout."""

    def __init__(self, path: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-P", __file__, "--work"],
            cwd=path,
            env={**os.environ, "PYTHONPATH": str(path)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, part: str, *arguments: str) -> float | None:
        """One measurement."""
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps([part, arguments]) + "\n")
        process.stdin.flush()
        answer = process.stdout.readline()
        if not answer:
            raise SystemExit(f"{process.args[0]}: ended over {part} {' '.join(arguments)}")
        found: float | None = json.loads(answer)
        return found

    def close(self) -> None:
        """End it."""
        self._process.communicate()


Pair = tuple[Checkout, Checkout]
"""(the other one, this one)."""


@contextlib.contextmanager
def checkouts(other: Path, count: int) -> Iterator[list[Pair]]:
    """That many pairs of processes."""
    pairs = [(Checkout(other), Checkout(HERE)) for _ in range(count)]
    try:
        yield pairs
    finally:
        for pair in pairs:
            for each in pair:
                each.close()


COLD = ("canyon", "tank", "harbour")


def cold_s(path: Path, scene: str) -> float:
    """CPU seconds of a checkout's first run of a scene without a window, with nothing compiled and no world grown."""
    with tempfile.TemporaryDirectory() as empty:
        env = {**os.environ, "PYTHONPATH": str(path), "HOLONOMY_CACHE": empty}
        command = [sys.executable, "app.py", scene, "--headless", "--seconds", "0.1"]
        process = subprocess.Popen(command, cwd=path, env=env, stdout=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = status
    if status:
        raise SystemExit(f"{path}: {scene} does not run")
    return used.ru_utime + used.ru_stime


def first_picture_s(path: Path) -> tuple[float, float]:
    """(wall, CPU) seconds of a checkout's start until the canyon is drawn in its window, children included."""
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    with tempfile.TemporaryDirectory() as own:
        told = Path(own) / "probe.json"
        command = [sys.executable, "app.py", "canyon", "--probe", str(told)]
        env |= {"PYTHONPATH": str(path), "XDG_CONFIG_HOME": own}
        began_s = time.perf_counter()
        process = subprocess.Popen(command, cwd=path, env=env, stdout=subprocess.DEVNULL)
        try:
            while process.poll() is None:
                if told.exists() and "frames" in json.loads(told.read_text()):
                    wall_s = time.perf_counter() - began_s
                    used = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
                    return wall_s, sum(map(int, used[11:15])) / os.sysconf("SC_CLK_TCK")
                time.sleep(5e-3)
        finally:
            process.terminate()
            process.wait()
    raise SystemExit(f"{path}: the canyon opens no window")


def compared(pairs: list[Pair], rounds: int, part: str, arguments: tuple[str, ...], unit: str) -> None:
    """One line."""
    taken: list[list[float]] = [[], []]
    for both in pairs * rounds:
        for each, checkout in zip(taken, both, strict=True):
            measured = checkout.ask(part, *arguments)
            if measured is not None:
                each.append(measured)
    if all(taken):
        then, now = (median(each) for each in taken)
        print(
            f"| {' '.join((part, *arguments))} | {then:.3g} {unit} | {now:.3g} {unit} | {now / then:.2f} |",
            flush=True,
        )


def main() -> None:
    """Compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("other", type=Path, nargs="?", help="folder of another checkout")
    parser.add_argument("--only", choices=PARTS, action="append")
    parser.add_argument("--vehicle", action="append", help="only these")
    parser.add_argument("--method", action="append", help="only these")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--processes", type=int, default=3, help="that measure each checkout")
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        work()
        return
    if options.other is None:
        parser.error("the folder of another checkout is missing")
    other, parts, rounds = options.other.resolve(), options.only or PARTS, options.rounds
    print(
        f"load {os.getloadavg()[0]:.1f} at the start\n\n| what | other | here | here / other |\n|---|---|---|---|"
    )
    stepped = [(v, m) for v in options.vehicle or VEHICLES for m in options.method or METHODS]
    with checkouts(other, options.processes) as pairs:
        for vehicle, method in MADE if "made" in parts else ():
            compared(pairs, rounds, "made", (vehicle, method), "s")
        for part in ("kernels", "simulate"):
            for vehicle, method in stepped if part in parts else ():
                compared(pairs, rounds, part, (vehicle, method), "us a step")
        for part, cases in (("batch", TOGETHER), ("gradient", ROLLED)):
            for case in cases if part in parts else ():
                compared(pairs, rounds, part, case, "us a step")
        if "sweep" in parts:
            compared(pairs, rounds, "sweep", ("rigid-body", "mass"), "s")
        for scene in " ".join(PLANNED).split() if "plans" in parts else ():
            for what, unit in (("cost", ""), ("cold", "ms"), ("dragged", "ms a place")):
                compared(pairs, rounds, "plans", (what, scene), unit)
        if "frames" in parts:
            compared(pairs, rounds, "frames", ("software",), "ms a frame")
    if "cold" in parts:
        for scene in COLD:
            taken = [[cold_s(path, scene) for path in (other, HERE)] for _ in range(rounds)]
            then, now = (median(each[k] for each in taken) for k in (0, 1))
            print(f"| {scene} from empty caches, CPU | {then:.1f} s | {now:.1f} s | {now / then:.2f} |")
    if "start" in parts and os.environ.get("DISPLAY") and sys.platform == "linux":
        first_picture_s(other), first_picture_s(HERE)  # what is missing in the caches
        taken = [[first_picture_s(path) for path in (other, HERE)] for _ in range(rounds)]
        for number, name in enumerate(("wall", "CPU")):
            then, now = (median(each[k][number] for each in taken) for k in (0, 1))
            print(f"| canyon to its first picture, {name} | {then:.2f} s | {now:.2f} s | {now / then:.2f} |")
    print(f"\nload {os.getloadavg()[0]:.1f} at the end")


if __name__ == "__main__":
    main()
