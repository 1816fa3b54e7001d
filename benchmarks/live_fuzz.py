"""Bad messages to a listening simulation: `python -m benchmarks.live_fuzz [COUNT] [SEED]`, a hundred thousand without.

Random bytes, true requests with bytes changed, cut or repeated, odd commands and fields, texts. Each has to be answered
by one message whose error, if any, is one line; at the end the simulation still flies and has as many threads.
"""

import os
import sys
import tempfile
import threading
import time
from collections import Counter
from concurrent.futures import Future

import numpy as np
from websockets.sync.client import connect

import sim
from sim.live.server import COMMANDS, Server
from sim.live.wire import decode, encode, found
from sim.scene import load_scene
from sim.simulation import Simulation
from sim.world import load_world

ODD = (
    None,
    True,
    -1,
    2**63 - 1,
    1e308,
    float("nan"),
    float("inf"),
    "",
    "../../etc",
    "x" * 500,
    [],
    {},
    [[]],
    b"\0",
)
FIELDS = (
    "paused",
    "values",
    "speed",
    "name",
    "value",
    "integrator",
    "step_s",
    "lane",
    "mode",
    "count",
    "time_s",
    "at",
)


def message(rng: np.random.Generator) -> bytes | str:
    """One that no client of ours would send, or hardly."""
    kind = int(rng.integers(6))
    if kind == 0:
        return rng.bytes(int(rng.integers(200)))
    if kind == 1:
        return "".join(map(chr, rng.integers(32, 1000, int(rng.integers(20)))))
    asked = {
        "id": int(rng.integers(1000)),
        "ask": str(rng.choice(["do", "look", "scene", "stream", "open?"])),
    }
    asked |= {"command": str(rng.choice(list(COMMANDS))), "every_s": 0.0}
    names = rng.choice(FIELDS, int(rng.integers(4)), replace=False)
    asked["fields"] = {str(name): ODD[int(rng.integers(len(ODD)))] for name in names}
    if kind == 2:
        asked[str(rng.choice(["id", "ask", "command", "fields", "every_s"]))] = ODD[
            int(rng.integers(len(ODD)))
        ]
    data = bytearray(encode(asked))
    if kind == 3:
        for at in rng.integers(len(data), size=3):
            data[at] = int(rng.integers(256))
    if kind == 4:
        data = data[: int(rng.integers(len(data)))]
    if kind == 5:
        data = data + data
    return bytes(data)


def main() -> None:
    """Print how many were answered how, and how long it took."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    rng = np.random.default_rng(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["HOLONOMY_CONFIG"] = folder
        scene = load_scene("plain")
        simulation = Simulation(scene, load_world(scene.world, seed=scene.seed))
        simulation.start()
        with Server(lambda: simulation, lambda name: Future()):
            port, token = found()
            threads, answers, began = threading.active_count(), Counter[str](), time.perf_counter()
            head = {"Authorization": f"Bearer {token}"}
            with connect(f"ws://127.0.0.1:{port}", additional_headers=head, compression=None) as plug:
                for _ in range(count):
                    plug.send(message(rng))
                    told = decode(plug.recv(60.0))
                    while "id" not in told:  # a picture of a stream that it began
                        told = decode(plug.recv(60.0))
                    line = str(told.get("error", ""))
                    assert line.isprintable(), line
                    answers["refused" if line else "carried out"] += 1
            took_s = time.perf_counter() - began
            with sim.connect() as app:
                app.command("Reset")
                app.pause()
                before = app.lanes[0]["time_s"]
                assert app.step(3)["lanes"][0]["time_s"] > before
            time.sleep(0.5)
            print(
                f"{count} messages in {took_s:.1f} s: {dict(answers)}; "
                f"{threads} threads before, {threading.active_count()} after"
            )
        simulation.stop()


if __name__ == "__main__":
    main()
