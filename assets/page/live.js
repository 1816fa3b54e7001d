// The viewer beside a running simulation: the same picture and plots, with poses that come over a WebSocket.

import { Quaternion, Vector3 } from "three";
import { LineGeometry } from "three/examples/jsm/lines/LineGeometry.js";
import { decode, encode } from "./wire.js";

const EVERY_S = 1 / 30;
const WINDOW_S = 30;
const TRAIL = 600;
const POSE = 11;
const STILL_MS = 1500;

/** The way from a page that the window serves: what is sent on it, and what is told of what comes. */
export function webSocket({ onBytes, onEnd }) {
  const socket = new WebSocket(`ws://${location.host}/`, ["holonomy", `holonomy.token.${location.hash.slice(1)}`]);
  socket.binaryType = "arraybuffer";
  socket.addEventListener("message", (event) => onBytes(new Uint8Array(event.data)));
  return new Promise((resolve, reject) => {
    socket.addEventListener("error", () => reject(new Error("the window does not answer: open live.html anew")));
    socket.addEventListener("open", () => {
      socket.addEventListener("close", onEnd);
      resolve((bytes) => socket.send(bytes));
    });
  });
}

/** The way from a notebook's cell, by its kernel, which passes the same bytes on. */
export function passedOn(model, signal) {
  return async ({ onBytes, onEnd }) => {
    const heard = (message, buffers) => {
      if (message.end) return onEnd(message.end);
      const [view] = buffers;
      return onBytes(new Uint8Array(view.buffer, view.byteOffset, view.byteLength));
    };
    model.on("msg:custom", heard);
    signal.addEventListener("abort", () => { model.off("msg:custom", heard); model.send({ end: true }); });
    return (bytes) => model.send({}, undefined, [bytes]);
  };
}

/** Requests to the window and its answers. */
class Link {
  constructor(open, onPicture, onEnd, notice) {
    this.waiting = new Map();
    this.count = 0;
    const onBytes = (bytes) => {
      const message = decode(bytes);
      if (message.picture) return onPicture(message.picture);
      const asked = this.waiting.get(message.id);
      this.waiting.delete(message.id);
      if (message.error) {
        notice(message.error);
        asked?.reject(new Error(message.error));
      } else asked?.resolve(message);
      return undefined;
    };
    this.opened = open({ onBytes, onEnd }).then((send) => { this.send = send; });
  }

  ask(request) {
    const id = ++this.count;
    this.send(encode({ id, ...request }));
    return new Promise((resolve, reject) => this.waiting.set(id, { resolve, reject }));
  }

  command(name, fields) {
    return this.ask({ ask: "do", command: name, fields }).catch(() => undefined);
  }
}

/** Makes a viewer, by its class, that shows what comes. */
export async function live(Viewer, host, about, { link: open, keys, signal, onViewer }) {
  const byId = (id) => host.querySelector(`#${id}`);
  let viewer = null, before = null, after = null, arrived = 0, building = false, settled = false, touched = 0;
  const curves = { array: (values) => values };

  /** Everything anew, for other lanes or another scene. */
  async function build() {
    building = true;
    try {
      const { scene } = await link.ask({ ask: "scene" });
      const old = viewer;
      const lanes = scene.lanes.map((lane) => ({ ...lane, time: [], trail: [], curves: {} }));
      viewer = new Viewer(host, { ...about, title: scene.title, caption: [], lanes, plan: scene.plan, first_plots: scene.first_plots, duration_s: WINDOW_S }, curves);
      viewer.key = scene.key;
      viewer.live = true;
      viewer.time = WINDOW_S; // the cursor of the plots: now
      viewer.mains = [];
      const heading = document.createElement("summary");
      heading.append(Object.assign(document.createElement("h1"), { textContent: scene.title }));
      byId("caption").replaceChildren(heading);
      byId("lanes").replaceChildren();
      byId("plots").replaceChildren();
      if (old?.renderer) old.dispose();
      try {
        await viewer.picture(scene.glb.slice().buffer);
      } catch (error) {
        viewer.renderer = null;
        byId("notice").textContent = `No picture: ${error.message}. The plots work without it.`;
      }
      onViewer(viewer);
      before = after = null;
    } finally {
      building = false;
    }
  }

  function remember(picture) {
    const { lanes } = viewer.about;
    lanes.forEach((lane, k) => {
      const values = picture.lanes[k]?.values ?? {};
      if (lane.times?.length && picture.time_s <= lane.times.at(-1)) {
        if (picture.time_s < lane.times.at(-1)) { lane.times = []; lane.curves = {}; lane.trail = []; }
        else return;
      }
      lane.times = [...(lane.times ?? []), picture.time_s];
      for (const name of Object.keys(values)) (lane.curves[name] ??= new Array(lane.times.length - 1).fill(NaN)).push(values[name]);
      for (const curve of Object.values(lane.curves)) while (curve.length < lane.times.length) curve.push(NaN);
      const first = lane.times.findIndex((t) => t > picture.time_s - WINDOW_S);
      if (first > 0) {
        lane.times = lane.times.slice(first);
        for (const name of Object.keys(lane.curves)) lane.curves[name] = lane.curves[name].slice(first);
      }
      lane.time = lane.times.map((t) => t - picture.time_s + WINDOW_S);
    });
  }

  function onPicture(picture) {
    if (building) return;
    if (!viewer || picture.key !== viewer.key) { build().catch(() => undefined); return; }
    byId("play").textContent = picture.paused ? "Play" : "Pause";
    byId("clock").textContent = `${picture.time_s.toFixed(2)} s`;
    if (byId("speed").getRootNode().activeElement !== byId("speed")) byId("speed").value = String(picture.speed);
    byId("notice").textContent = picture.lanes.map((lane) => lane.status).find(Boolean) ?? "";
    viewer.paused = picture.paused;
    if (viewer.latest?.time_s === picture.time_s && after) { viewer.latest = picture; return; }
    settled = false;
    before = after ?? picture.poses;
    after = picture.poses;
    arrived = performance.now();
    remember(picture);
    viewer.latest = picture;
    if (!viewer.plots.length) {
      const names = [...new Set(viewer.about.lanes.flatMap((lane) => Object.keys(lane.curves)))];
      viewer.controls(names); // choices of cameras, lanes and plots
      viewer.resize();
    }
  }

  /** Poses between the last two pictures, by the time since the later one came. */
  function place(now) {
    if (!after || !viewer.nodes) return;
    const share = Math.min((now - arrived) / (1e3 * EVERY_S), 1);
    const [p, q, r] = [new Vector3(), new Quaternion(), new Quaternion()];
    viewer.nodes.slice(0, after.length / POSE).forEach((node, k) => {
      const a = before.length === after.length ? before : after, at = POSE * k;
      node.position.fromArray(a, at).lerp(p.fromArray(after, at), share);
      node.quaternion.copy(q.fromArray(a, at + 3).slerp(r.fromArray(after, at + 3), share));
      node.scale.fromArray(after, at + 7);
      node.visible = after[at + 10] > 0;
    });
  }

  let painted = 0;
  for (const kind of ["pointerdown", "pointermove", "wheel", "change"]) host.addEventListener(kind, () => { touched = performance.now(); }, { signal });
  function slowly(now) {
    if (!after || now - painted < 250) return; // nothing has its place yet
    painted = now;
    viewer.mains.forEach((main, k) => {
      const lane = viewer.about.lanes[k], e = main.matrixWorld.elements;
      const last = lane.trail.slice(-3);
      if (last.length && Math.hypot(e[12] - last[0], e[13] - last[1], e[14] - last[2]) < 0.02) return;
      lane.trail.push(e[12], e[13], e[14]);
      if (lane.trail.length > 3 * TRAIL) lane.trail = lane.trail.slice(-3 * TRAIL);
      if (lane.trail.length >= 6) viewer.trail(k, new LineGeometry().setPositions(lane.trail));
    });
    viewer.plots.forEach((plot) => plot.paint());
  }

  const notice = (text) => { byId("notice").textContent = text; };
  const link = new Link(open, onPicture, () => notice("The window has gone."), notice);
  await link.opened;
  byId("time").style.visibility = "hidden";
  byId("play").addEventListener("click", () => link.command("SetPaused", { paused: !viewer?.paused }));
  byId("speed").addEventListener("change", (event) => { link.command("SetSpeed", { speed: Number(event.target.value) }); event.target.blur(); });
  keys.addEventListener("keydown", (event) => {
    touched = performance.now();
    if (event.code === "Space" && event.composedPath()[0].tagName !== "SELECT") { event.preventDefault(); link.command("SetPaused", { paused: !viewer?.paused }); }
  }, { signal });
  new ResizeObserver(() => { touched = performance.now(); viewer?.resize(); }).observe(host);
  signal?.addEventListener("abort", () => viewer?.dispose());
  await build();
  await link.ask({ ask: "stream", every_s: EVERY_S, picture: true });
  let drawn = 0;
  const next = (now) => {
    if (signal?.aborted) return;
    if (viewer && !building && (!settled || now - touched < STILL_MS)) { // a picture at rest is drawn once
      settled = now - arrived >= 1e3 * EVERY_S && Boolean(after);
      place(now);
      viewer.draw(0, Math.min(1e-3 * (now - drawn), 0.25));
      drawn = now;
      slowly(now);
    } else if (viewer && !building) viewer.rest();
    requestAnimationFrame(next);
  };
  requestAnimationFrame(next);
}
