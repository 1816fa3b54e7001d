"""Cells of notebooks: what a real browser shows of what a real kernel has sent."""

import base64
import gzip
import json
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sim
from export.notebook import NotebookView
from export.page import viewer_text
from sim.recordings import Take
from sim.scene import load_scene
from sim.simulation import Simulation
from sim.world import load_world
from tests.export.browser import Browser, installed
from tests.patience import PATIENCE_S, wait_until

needs_browser = pytest.mark.skipif(not installed(), reason="there is no chromedriver")
FRONT = """<!doctype html><meta charset=utf-8><body><script>
// A front end of anywidget: a model by its state, views of it, and what both send each other.
class Model {
  constructor(state) { this.state = state; this.heard = {}; this.outbox = []; }
  get(name) { return this.state[name]; }
  set(name, value) { this.state[name] = value; (this.heard["change:" + name] ?? []).forEach((f) => f()); }
  save_changes() { this.saved = { ...this.state }; }
  on(name, f) { (this.heard[name] ??= []).push(f); }
  off(name, f) { this.heard[name] = this.heard[name].filter((g) => g !== f); }
  send(content, _, buffers = []) { this.outbox.push([content, buffers.map((b) => btoa(String.fromCharCode(...b)))]); }
  receive(text) { this.heard["msg:custom"].forEach((f) => f({}, [new DataView(bytesOf(text).buffer)])); }
}
const bytesOf = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
async function show(state, buffers, views) {
  for (const [name, text] of Object.entries(buffers)) state[name] = new DataView(bytesOf(text).buffer);
  window.model = new Model(state);
  const blob = URL.createObjectURL(new Blob([state._esm], { type: "text/javascript" }));
  const widget = (await import(blob)).default;
  window.views = [...Array(views)].map(() => {
    const el = document.body.appendChild(document.createElement("div"));
    return { el, end: widget.render({ model, el }), viewer: () => el.firstChild.holonomy };
  });
}
</script>"""


def thrown() -> sim.Trajectory:
    body = sim.vehicle("rigid-body", inertia=(1.0, 2.3, 3.1))
    start = body.state(x=(3.0, -2.0, 30.0), omega=(1.0, 2.0, -3.0), v=(4.0, 1.0, 6.0))
    return sim.simulate(body, "variational", step=0.01, duration=2.0, initial=start)


CELL = """
import sim
body = sim.vehicle("rigid-body", inertia=(1.0, 2.3, 3.1))
start = body.state(x=(3.0, -2.0, 30.0), omega=(1.0, 2.0, -3.0), v=(4.0, 1.0, 6.0))
run = sim.simulate(body, "variational", step=0.01, duration=2.0, initial=start)
sim.show(run, body, title="thrown")
"""


def of_widget(file: Path, state: dict[str, Any], buffers: dict[str, str], views: int, page: Browser) -> None:
    """Have a browser show a widget by its state."""
    made = json.dumps([state, buffers, views]).replace("<", "\\u003c")
    file.write_text(f"{FRONT}<script>show(...{made})</script>", encoding="utf-8")
    page.open(file, "window.views && views[0].viewer()")


@needs_browser
def test_a_kernel_sends_a_widget_whose_viewer_is_at_the_poses_and_at_the_time_that_is_set(
    tmp_path: Path, chromium: Browser
) -> None:
    pytest.importorskip("anywidget")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    nbformat = pytest.importorskip("nbformat")
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(CELL)])
    nbclient.NotebookClient(
        book, timeout=PATIENCE_S, store_widget_state=True, kernel_name="python3"
    ).execute()
    (told,) = book.cells[0].outputs
    model = told.data["application/vnd.jupyter.widget-view+json"]["model_id"]
    assert told.data["text/html"].startswith("<iframe")
    kept = book.metadata.widgets["application/vnd.jupyter.widget-state+json"]["state"][model]
    buffers = {buffer["path"][0]: buffer["data"] for buffer in kept["buffers"]}
    of_widget(tmp_path / "cells.html", kept["state"], buffers, 20, chromium)
    # Twenty views of it, of which browsers can give a picture to sixteen: those in sight have one.
    first = "views[0].viewer()"
    assert chromium.run(f"model.set('playing', false); return {first}.playing") is False
    run = thrown()
    for step in (0, 77, 200):
        chromium.run(f"model.set('time_s', {0.01 * step})")
        found = np.array(chromium.run(f"const v = {first}; return v.poses(v.time)[0]"))
        np.testing.assert_allclose(found, run.pose[step], atol=1e-4)
    chromium.run(f"{first}.seek(1.25); {first}.play(true); {first}.play(false)")
    assert chromium.run("return [model.saved.playing, model.saved.time_s]") == [False, 1.25]
    pictures = "return views.filter((view) => view.viewer()?.renderer).length"
    wait_until(lambda: 1 <= chromium.run(pictures) <= 4, lambda: chromium.run(pictures))
    chromium.run("views[19].el.scrollIntoView()")
    wait_until(lambda: chromium.run("return Boolean(views[19].viewer()?.renderer)"))
    chromium.run("views.forEach((view) => view.end())")
    assert chromium.run("return views.every((view) => !view.el.firstChild)")
    assert [line for line in chromium.complaints() if "context" not in line] == []


@needs_browser
def test_a_cell_shows_a_running_window_by_what_its_kernel_passes_on(
    tmp_path: Path, chromium: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("anywidget")
    pytest.importorskip("websockets")
    from export.page import LivePage, Surroundings
    from sim.live.server import Server

    monkeypatch.setenv("HOLONOMY_CONFIG", str(tmp_path))
    scene = load_scene("plain")
    running = Simulation(scene, load_world(scene.world, seed=scene.seed))
    page = LivePage(lambda: Surroundings(running.run.world))
    with Server(lambda: running, lambda name: Future(), page=page), sim.connect() as app:
        running.start()
        try:
            view = sim.show(app)  # type: ignore[attr-defined]
            widget, sent = view.widget, []
            monkeypatch.setattr(widget, "send", lambda content, buffers=(): sent.append(buffers))
            state = {"_esm": widget._esm, "about": widget.about, "height_px": 500}
            made = json.dumps([state, {}, 1]).replace("<", "\\u003c")
            (tmp_path / "live.html").write_text(f"{FRONT}<script>show(...{made})</script>", encoding="utf-8")
            chromium.open(tmp_path / "live.html", "window.views")

            def pass_on() -> None:
                for content, buffers in chromium.run("return model.outbox.splice(0)"):
                    widget._handle_custom_msg(content, [memoryview(base64.b64decode(b)) for b in buffers])
                while sent:
                    (data,) = sent.pop(0)
                    chromium.run(f"model.receive('{base64.b64encode(data).decode()}')")

            app.step(25)
            wanted = app.snapshot()["lanes"][0]["bodies"]["body"]
            shown = "return views[0].viewer()?.latest && views[0].viewer().poses(0)[0]"
            inside = "return views[0].el.firstChild.shadowRoot.querySelector"

            def arrived() -> bool:
                pass_on()
                found = chromium.run(shown)
                return found is not None and np.abs(np.array(found) - wanted).max() <= 1e-9

            wait_until(
                arrived, lambda: (chromium.complaints(), chromium.run(f"{inside}('#notice').textContent"))
            )
            assert chromium.run(f"{inside}('h1').textContent") == "plain"
            chromium.run(f"{inside}('#play').click()")

            def plays() -> bool:
                pass_on()
                return not app.snapshot()["paused"]

            wait_until(plays)
        finally:
            running.stop()


@needs_browser
def test_without_a_kernel_runs_are_shown_in_a_frame_of_their_own(tmp_path: Path, chromium: Browser) -> None:
    run = thrown()
    at_rest = sim.vehicle("boat")
    view: NotebookView = sim.show(run, Take.of_trajectory(run), at_rest, title='two "throws"')  # type: ignore[attr-defined]
    cell = view._repr_mimebundle_()["text/html"]
    notebook = tmp_path / "notebook.html"
    notebook.write_text(f"<!doctype html><meta charset=utf-8><body>{cell}", encoding="utf-8")
    inner = "document.querySelector('iframe').contentWindow"
    chromium.open(notebook, f"{inner}.holonomy")
    assert chromium.run(f"return {inner}.document.title") == 'two "throws"'
    lanes = chromium.run(
        f"return [...{inner}.document.querySelectorAll('#lanes label')].map((l) => l.textContent)"
    )
    assert lanes == ["rigid-body", "rigid-body 2", "boat"]
    assert chromium.complaints() == []


EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.ipynb"))


@needs_browser
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_what_is_stored_in_a_notebook_is_shown_by_the_viewer_of_today(
    path: Path, tmp_path: Path, chromium: Browser
) -> None:
    """All that its cells gave, without a kernel; `python scripts/notebooks.py` stores it anew."""
    outputs = [output for cell in json.loads(path.read_text())["cells"] for output in cell.get("outputs", ())]
    cells = ["".join(output.get("data", {}).get("text/html", ())) for output in outputs]
    notebook = tmp_path / "stored.html"
    notebook.write_text(f"<!doctype html><meta charset=utf-8><body>{'<hr>'.join(cells)}", encoding="utf-8")
    inner = "document.querySelector('iframe').contentWindow"
    chromium.open(notebook, f"{inner}.holonomy?.first_ms")
    viewer = chromium.run(f"return {inner}.document.getElementById('viewer').textContent.trim()")
    assert gzip.decompress(base64.b64decode(viewer)).decode() == viewer_text()
    chromium.run(f"{inner}.holonomy.playing = false; {inner}.holonomy.seek(0.5)")
    assert chromium.run(f"return {inner}.holonomy.time") == 0.5
    places = np.array(chromium.run(f"return {inner}.holonomy.poses(0.5)"))
    assert places.shape[1:] == (4, 4)
    assert np.isfinite(places).all()
    assert chromium.complaints() == []


@pytest.mark.parametrize("runs", [(), (3,), (None, "helicopter")])
def test_what_cannot_be_shown_is_refused_in_a_line(runs: tuple[Any, ...]) -> None:
    with pytest.raises(sim.InputError, match="allowed: trajectories, takes, plans, vehicles") as refused:
        sim.show(*runs)  # type: ignore[attr-defined]
    assert "\n" not in str(refused.value)
