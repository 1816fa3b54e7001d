// The viewer of an exported page: a recorded motion with cameras, a time line and plots. Built into viewer.bundle.js
// by scripts/bundle_viewer.py. World coordinates have z up and metres, as everywhere in Holonomy.

import {
  ACESFilmicToneMapping, Box3, BufferAttribute, BufferGeometry, Color, ConeGeometry, CylinderGeometry,
  DirectionalLight, DoubleSide, Fog, Group, HemisphereLight, Mesh, MeshBasicMaterial, MeshLambertMaterial,
  PerspectiveCamera, Quaternion, Scene, Vector3, WebGLRenderer, PCFShadowMap,
} from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { Line2 } from "three/examples/jsm/lines/Line2.js";
import { LineGeometry } from "three/examples/jsm/lines/LineGeometry.js";
import { LineMaterial } from "three/examples/jsm/lines/LineMaterial.js";
import { GLTFLoader } from "three/examples/jsm/loaders/GLTFLoader.js";
import { live, passedOn, webSocket } from "./live.js";
import FRAME from "./frame.html";
import STYLE from "./viewer.css";

const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 4];
const SKY = new Color(0.62, 0.74, 0.86);
const PLOTS = 3;
const FAR_M = 20000;
const ROOMY_PX = [1000, 480];
/** From which width and height of the picture on the caption is unfolded at first. */
const TOUCHES = ["pointerdown", "pointermove", "wheel", "change", "input"];
const STAND = "stand";
/** What holds a lane up, which is no part of what is looked at. */
const FEW = 0.02;
const BLOWN_UP = 100;
/** The share of a curve's numbers that may lie outside of a plot, which then shows the others this many times larger at least. */
const SLOW_S = 0.05, MOST_SLOW = 4;
const FINENESS = [[1, true], [0.75, true], [0.5, false], [0.35, false]], SOFTWARE = 2;
/** Share of the window's pixels, and whether there are shadows: where pictures take longer, the next; without a graphics card this at first. */
const STILL_MS = 1500;
/** How long a picture at rest is drawn anew after something was touched. */
const UP = new Vector3(0, 1, 0);
/** Along which an arrow of three.js's own shapes points. */
const CHASE_PER_S = 8;
/** Share of what it lags behind the vehicle's heading by which the chase camera turns in a second. */
const ASLEEP_MS = 2000;
/** How long a picture is out of sight before it gives its graphics context back; browsers keep 16. */

/** Grain of land and waves of water by place, so that a page needs no textures. */
const NOISE = `
varying vec3 place_w;
uniform float clock;
uniform vec3 sky;
float hash(vec2 p) { p = fract(p * vec2(123.34, 456.21)); p += dot(p, p + 45.32); return fract(p.x * p.y); }
float noise(vec2 p) {
  vec2 i = floor(p), f = fract(p), u = f * f * (3.0 - 2.0 * f);
  return mix(mix(hash(i), hash(i + vec2(1, 0)), u.x), mix(hash(i + vec2(0, 1)), hash(i + vec2(1, 1)), u.x), u.y);
}
float seen(float finest_m) { return 1.0 - smoothstep(0.25, 0.8, length(fwidth(place_w.xy)) / finest_m); }
vec2 ripple(vec2 p, vec2 way, float length_m) {
  float k = 6.2832 / length_m;
  return way * cos(k * dot(way, p) - sqrt(9.81 * k) * clock + 3.0 * noise(p / (2.0 * length_m))) * seen(length_m);
}`;
const LANDS = {
  ground: {
    normal: "",
    light: `float grain = 0.5 * (noise(place_w.xy / 7.0) + noise(place_w.xy / 1.7) * seen(1.7)) + 0.25 * (1.0 - seen(1.7))
  + 0.28 * (noise(place_w.xy / 0.35) - 0.5) * seen(0.35) + 0.16 * (noise(place_w.xy / 0.06) - 0.5) * seen(0.06);
outgoingLight *= 0.72 + 0.56 * grain;`,
  },
  water: {
    normal: `vec2 slope = 0.055 * (ripple(place_w.xy, vec2(0.96, 0.28), 6.1) + ripple(place_w.xy, vec2(0.6, -0.8), 3.7)
  + ripple(place_w.xy, vec2(0.2, 0.98), 2.3) + ripple(place_w.xy, vec2(0.83, 0.55), 1.1));
normal = normalize((viewMatrix * vec4(normalize(vec3(-slope, 1.0)), 0.0)).xyz);`,
    light: `float mirrored = 0.02 + 0.98 * pow(1.0 - clamp(dot(normal, normalize(vViewPosition)), 0.0, 1.0), 5.0);
outgoingLight = mix(outgoingLight, sky, 0.75 * mirrored);`,
  },
};

/** What gzipped bytes hold. */
function unpacked(bytes) {
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
}

/** Whether pictures are drawn by the processor, without a graphics card. */
function bySoftware() {
  const gl = document.createElement("canvas").getContext("webgl2"), named = gl?.getExtension("WEBGL_debug_renderer_info");
  const by = named ? gl.getParameter(named.UNMASKED_RENDERER_WEBGL) : "";
  gl?.getExtension("WEBGL_lose_context")?.loseContext();
  return /swiftshader|llvmpipe|softpipe|software|basic render/i.test(by);
}

/** The page's state: everything that is shown follows from the moment `time` and the choices beside it. */
class Viewer {
  /** host: the element that holds all of it, and within which its elements are looked for. */
  constructor(host, about, curves) {
    this.host = host;
    this.about = about;
    this.curves = curves;
    this.time = 0;
    this.speed = 1;
    this.playing = true;
    this.hidden = new Set();
    this.plots = [];
    this.tracks = [];
    this.forces = false;
    this.planShown = true;
    this.fineness = 0;
    this.slow = 0;
    this.touched = 0;
    this.clock = { value: 0 };
    this.pictures = 0;
    /** Drawn so far; `first_ms` is when the first was, since the page began to load. */
  }

  byId(id) {
    return this.host.querySelector(`#${id}`);
  }

  /** Builds the picture; where the browser has no WebGL the plots stay. */
  async picture(glb) {
    const canvas = this.byId("view").querySelector("canvas");
    const software = location.hash !== "#fine" && bySoftware();
    this.fineness = Math.max(this.fineness, software ? SOFTWARE : 0);
    this.renderer = new WebGLRenderer({ canvas, antialias: !software });
    this.renderer.debug.checkShaderErrors = false; // it waits for each of them
    this.renderer.toneMapping = ACESFilmicToneMapping;
    this.renderer.toneMappingExposure = 1.15;
    this.renderer.shadowMap.type = PCFShadowMap;
    canvas.addEventListener("webglcontextlost", (event) => {
      event.preventDefault();
      if (this.renderer) this.byId("notice").textContent = "The picture was lost by the browser; reload the page to get it back.";
    });
    const gltf = await new GLTFLoader().parseAsync(glb, "");
    this.scene = new Scene();
    this.scene.background = SKY;
    this.scene.add(gltf.scene, new HemisphereLight(0xd5e4f5, 0x6b5a48, 1.6));
    this.world = await gltf.parser.getDependency("node", 0);
    this.world.quaternion.identity(); // the file turns z up into y up; here z stays up
    this.world.traverse((node) => {
      if (!node.isMesh) return;
      node.receiveShadow = true;
      const ofLand = LANDS[node.material.name];
      node.castShadow = !node.material.transparent && !ofLand;
      if (ofLand) node.material.onBeforeCompile = (shader) => this.#grained(shader, ofLand);
    });
    this.sun = new DirectionalLight(0xfff0da, 3.0);
    this.sun.shadow.mapSize.set(2048, 2048);
    this.sun.shadow.normalBias = 0.05;
    this.scene.add(this.sun, this.sun.target);
    const { nodes } = gltf.parser.json, { plan, camera } = this.about;
    const built = await Promise.all(nodes.map((_, k) => gltf.parser.getDependency("node", k)));
    this.nodes = built.slice(1);
    const ofLanes = this.about.lanes.map((lane) => lane.node);
    this.lanes = ofLanes.map((k) => this.nodes[k]);
    this.mains = ofLanes.map((k) => this.nodes[nodes[k + 1].children[0] - 1]); // its main body comes first
    this.tracks = (this.about.tracks ?? []).map(([k, ...packed]) => new Track(this.nodes[k], this.curves.array(packed), packed[2]));
    this.plan = plan ? this.nodes[plan.node] : null;
    if (camera) {
      this.recorded = new PerspectiveCamera((180 / Math.PI) * camera.fov_y_rad, 1, camera.near_m, FAR_M);
      this.nodes[camera.node].add(this.recorded);
    }
    this.camera = new PerspectiveCamera(45, 1, 0.05, FAR_M);
    this.camera.up.set(0, 0, 1);
    this.orbit = new OrbitControls(this.camera, canvas);
    this.orbit.enableDamping = true;
    this.#trails();
    this.#arrows();
    if (plan) this.#planned(plan);
    if (!this.live) this.#frame();
    this.resize();
    if (this.renderer.extensions.has("KHR_parallel_shader_compile")) await this.renderer.compileAsync(this.scene, this.camera);
    else this.renderer.compile(this.scene, this.camera);
  }

  /** The material of land or water with grain by place; `clock` moves the waves. */
  #grained(shader, ofLand) {
    shader.uniforms.clock = this.clock;
    shader.uniforms.sky = { value: SKY };
    shader.vertexShader = shader.vertexShader
      .replace("#include <common>", "#include <common>\nvarying vec3 place_w;")
      .replace("#include <begin_vertex>", "#include <begin_vertex>\nplace_w = (modelMatrix * vec4(position, 1.0)).xyz;");
    shader.fragmentShader = shader.fragmentShader
      .replace("#include <common>", `#include <common>\n${NOISE}`)
      .replace("#include <normal_fragment_maps>", `#include <normal_fragment_maps>\n${ofLand.normal}`)
      .replace("#include <opaque_fragment>", `${ofLand.light}\n#include <opaque_fragment>`);
  }

  /** Where the first vehicle is at the start, and how large it is: what the cameras begin from. */
  #frame() {
    const now = this.time;
    this.seek(0);
    this.world.updateMatrixWorld(true);
    const box = new Box3();
    for (const part of this.lanes[0].children) if (part.name !== STAND) box.expandByObject(part, true);
    const size = box.getSize(new Vector3()).length();
    this.size = Number.isFinite(size) && size > 0.05 ? size : 2;
    this.scene.fog = new Fog(SKY, 400 * Math.max(1, this.size / 4), 2600 * Math.max(1, this.size / 4));
    this.offset = new Vector3(-1.25, -1.5, 0.75).multiplyScalar(this.size);
    this.target = this.#place(0);
    this.orbit.target.copy(box.isEmpty() ? this.target : box.getCenter(new Vector3()));
    this.camera.position.copy(this.orbit.target).add(this.offset);
    if (!this.live) this.seek(now);
  }

  #place(lane) {
    return this.mains[lane].getWorldPosition(new Vector3());
  }

  #trails() {
    this.trails = this.about.lanes.map((lane, k) => {
      const places = this.curves.array(lane.trail);
      if (places.length < 6 && !this.live) return null;
      const line = new Line2(
        new LineGeometry().setPositions(places.length < 6 ? [0, 0, 0, 0, 0, 0] : places),
        new LineMaterial({ color: new Color(...lane.tint).getHex(), linewidth: 2.2, transparent: true, opacity: lane.ghost ? 0.35 : 0.75 }),
      );
      line.name = `trail ${k}`;
      line.frustumCulled = false;
      this.scene.add(line);
      return line;
    });
  }

  /** The way of a plan and its marks, beside the ghosts along it, which are in the file. */
  #planned({ lines, surfaces }) {
    this.plan.traverse((node) => { node.castShadow = node.receiveShadow = false; });
    for (const { corners, tint, alpha } of surfaces) {
      const shape = new BufferGeometry().setAttribute("position", new BufferAttribute(new Float32Array(this.curves.array(corners)), 3));
      const look = new MeshBasicMaterial({ color: new Color(...tint), transparent: true, opacity: alpha, side: DoubleSide, depthWrite: false });
      this.plan.add(new Mesh(shape, look));
    }
    for (const { points, tint, alpha, width_px } of lines) {
      const look = new LineMaterial({ color: new Color(...tint).getHex(), linewidth: width_px, transparent: true, opacity: alpha, depthWrite: false });
      this.plan.add(new Line2(new LineGeometry().setPositions(this.curves.array(points)), look));
    }
    this.plan.visible = this.planShown;
  }

  /** One of each force on each lane: a shaft and a head one metre long together, which are stretched. */
  #arrows() {
    const shaft = new CylinderGeometry(1, 1, 1, 12).translate(0, 0.5, 0), head = new ConeGeometry(2.4, 1, 16).translate(0, 0.5, 0);
    this.arrows = this.about.lanes.flatMap((lane, k) => (lane.forces ?? []).map((force) => {
      const material = new MeshLambertMaterial({ color: new Color(...force.tint), emissive: new Color(...force.tint), emissiveIntensity: 0.45 });
      const arrow = new Group().add(new Mesh(shaft, material), new Mesh(head, material));
      arrow.name = `${force.who} force ${k}`;
      this.scene.add(arrow);
      return { arrow, lane: k, time: this.curves.array(lane.time), ways: this.curves.array(force.ways) };
    }));
  }

  /** Arrows at the moment that is shown, from the middle of each lane's body. */
  #point() {
    for (const { arrow, lane, time, ways } of this.arrows) {
      arrow.position.copy(this.#place(lane));
      const way = between(time, ways, this.time), length = way.length(), thick = 0.012 * this.size;
      arrow.visible = this.forces && !this.hidden.has(lane) && length > thick;
      if (!arrow.visible) continue;
      arrow.quaternion.setFromUnitVectors(UP, way.clone().divideScalar(length));
      const tip = Math.min(7 * thick, 0.5 * length), [shaft, head] = arrow.children;
      shaft.scale.set(thick, length - tip, thick);
      head.scale.set(thick, tip, thick);
      head.position.y = length - tip;
    }
  }

  /** Another trail of a lane. */
  trail(lane, geometry) {
    this.trails[lane].geometry.dispose();
    this.trails[lane].geometry = geometry;
  }

  /** Lets go of what the graphics card holds. */
  dispose() {
    const { renderer } = this;
    if (!renderer) return;
    this.renderer = null;
    this.orbit.dispose();
    this.scene.traverse((node) => node.geometry?.dispose());
    renderer.dispose();
    renderer.forceContextLoss();
    renderer.domElement.replaceWith(renderer.domElement.cloneNode()); // the old one keeps its lost context
  }

  /** Gives the graphics context back and leaves a still picture in its place. */
  sleep() {
    if (!this.renderer) return;
    this.#render();
    this.byId("view").style.background = `center / 100% 100% url(${this.renderer.domElement.toDataURL("image/jpeg", 0.85)})`;
    this.seen = { position: this.camera.position.clone(), target: this.orbit.target.clone() };
    this.dispose();
  }

  /** As it was before `sleep`. */
  async wake(glb) {
    if (this.renderer) return;
    await this.picture(glb);
    this.byId("view").style.background = "";
    if (!this.seen) return;
    this.seek(this.time);
    this.world.updateMatrixWorld(true);
    this.target = this.seen.target.clone();
    this.orbit.target.copy(this.seen.target);
    this.camera.position.copy(this.seen.position);
    this.heading = undefined;
  }

  /** Has the motion go on, or not; told: whether who listens did not say so himself. */
  play(playing, told = true) {
    if (playing === this.playing) return;
    this.playing = playing;
    this.byId("play").textContent = playing ? "Pause" : "Play";
    if (told) this.onPlay?.(playing);
  }

  /** Shows a moment that somebody else has chosen, if it is another. */
  moved(time) {
    if (Math.abs(time - this.time) > 1e-9) this.seek(time);
  }

  /** Shows the moment `time` [s from the start]. */
  seek(time) {
    this.touched = performance.now();
    this.time = Math.min(Math.max(time, 0), this.about.duration_s);
    if (this.live) return;
    for (const track of this.tracks) track.show(this.time);
  }

  resize() {
    const { clientWidth, clientHeight } = this.byId("view");
    this.touched = performance.now();
    if (this.renderer) {
      this.renderer.shadowMap.enabled = this.sun.castShadow = FINENESS[this.fineness][1];
      this.#grain();
      for (const camera of [this.camera, this.recorded].filter(Boolean)) {
        camera.aspect = clientWidth / clientHeight;
        camera.updateProjectionMatrix();
      }
    }
    this.plots.forEach((plot) => plot.resize());
  }

  /** The picture's pixels: all that the window has where it is at rest. */
  #grain(rests = false) {
    const { clientWidth, clientHeight } = this.byId("view");
    this.renderer.setPixelRatio((rests ? 1 : FINENESS[this.fineness][0]) * Math.min(devicePixelRatio, 2));
    this.renderer.setSize(clientWidth, clientHeight, false);
    this.rests = rests;
  }

  /** One last picture once nothing moves any more, with all pixels. */
  rest() {
    if (!this.renderer || this.rests) return;
    this.#grain(true);
    this.#show(0);
  }

  /** Draws more coarsely where most of the last pictures were slow, as on old phones; those that are very slow count twice. */
  #ease(dt) {
    this.slow = Math.max(this.slow + (dt > 3 * SLOW_S ? 2 : dt > SLOW_S ? 1 : -1), 0);
    if (this.slow < MOST_SLOW || this.fineness + 1 >= FINENESS.length) return;
    this.slow = 0;
    this.fineness += 1;
    this.resize();
  }

  /** Whether the picture may be another one than the last. */
  get moves() {
    return this.playing || performance.now() - this.touched < STILL_MS;
  }

  /** One picture, `dt` seconds of the motion after the last; passed: seconds in which the camera moves. */
  draw(dt, passed = dt) {
    if (this.renderer) this.#ease(dt);
    if (this.renderer && this.rests) this.#grain();
    this.clock.value = this.live ? this.latest?.time_s ?? 0 : this.time;
    if (this.live) {
      if (!this.offset && this.renderer) this.#frame();
    } else if (this.playing && this.about.duration_s > 0) {
      const next = this.time + dt * this.speed;
      this.seek(next >= this.about.duration_s ? 0 : next);
    }
    this.#show(passed);
  }

  /** The moment that is shown, in the picture, on the time line and in the plots. */
  #show(passed) {
    if (!this.live) {
      this.byId("time").value = this.about.duration_s > 0 ? this.time / this.about.duration_s : 0;
      this.byId("clock").textContent = `${(this.about.begin_s + this.time).toFixed(2)} s`;
      this.plots.forEach((plot) => plot.cursor(this.time));
    }
    if (!this.renderer) return;
    this.world.updateMatrixWorld(true);
    this.lanes.forEach((lane, k) => {
      lane.visible = !this.hidden.has(k);
      if (this.trails[k]) this.trails[k].visible = lane.visible;
    });
    this.#point();
    const place = this.#place(0);
    const kind = this.byId("camera").value;
    if (kind !== "chase") this.heading = undefined;
    if (kind !== "free" && this.target) this.#follow(place, kind, passed);
    this.orbit.enabled = kind !== "recorded";
    if (this.orbit.enabled) this.orbit.update();
    this.sun.position.copy(place).add(new Vector3(-4, -6, 8).multiplyScalar(this.size));
    this.sun.target.position.copy(place);
    const reach = 3 * this.size;
    Object.assign(this.sun.shadow.camera, { left: -reach, right: reach, bottom: -reach, top: reach, near: 0.1, far: 30 * this.size });
    this.sun.shadow.camera.updateProjectionMatrix();
    this.#render();
  }

  #render() {
    this.renderer.render(this.scene, this.byId("camera").value === "recorded" ? this.recorded : this.camera);
    this.pictures += 1;
    this.first_ms ??= performance.now();
  }

  /** Moves camera and target with the vehicle; the chase camera begins behind it and turns with its heading. */
  #follow(place, kind, passed) {
    if (kind === "chase") {
      const forward = new Vector3(1, 0, 0).applyQuaternion(this.mains[0].getWorldQuaternion(new Quaternion()));
      const heading = Math.atan2(forward.y, forward.x), off = this.camera.position.clone().sub(this.orbit.target);
      const behind = this.heading === undefined;
      const wanted = heading - (behind ? Math.atan2(-off.y, -off.x) : this.heading);
      const turn = Math.atan2(Math.sin(wanted), Math.cos(wanted)) * (behind ? 1 : 1 - Math.exp(-CHASE_PER_S * passed));
      this.camera.position.copy(this.orbit.target).add(off.applyAxisAngle(new Vector3(0, 0, 1), turn));
      this.heading = behind ? heading : this.heading + turn;
    }
    this.camera.position.add(place).sub(this.target);
    this.orbit.target.add(place).sub(this.target);
    this.target.copy(place);
  }

  /** Poses of all lanes' first bodies at a moment: rows of a 4 x 4 matrix, world coordinates. For tests. */
  poses(time) {
    if (!this.live) this.seek(time);
    this.world.updateMatrixWorld(true);
    return this.mains.map((node) => {
      const e = node.matrixWorld.elements;
      return [0, 1, 2, 3].map((row) => [e[row], e[4 + row], e[8 + row], e[12 + row]]);
    });
  }
}

/** The vector at a moment, of rows of three at moments that increase; before and after them the first and the last. */
function between(time, rows, moment) {
  let low = 0, high = time.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (time[middle] <= moment) low = middle; else high = middle;
  }
  const share = time[high] > time[low] ? Math.min(Math.max((moment - time[low]) / (time[high] - time[low]), 0), 1) : 0;
  return new Vector3().fromArray(rows, 3 * low).lerp(new Vector3().fromArray(rows, 3 * high), share);
}

/** Arrays as export/packing.py writes them: read when they are asked for first. */
class Curves {
  constructor(buffer) {
    this.bytes = new Uint8Array(buffer);
    this.read = new Map();
  }

  array([first, rows, columns, units, lows]) {
    if (!this.read.has(first)) this.read.set(first, this.#array(first, rows, columns, units, lows));
    return this.read.get(first);
  }

  #array(first, rows, columns, units, lows) {
    const count = rows * columns, values = new Float64Array(count), { bytes } = this, plane = bytes.length / 4;
    for (let column = 0; column < columns; column++) {
      const unit = units[column], low = lows[column];
      let whole = 0, step = 0, change = 0;
      for (let row = 0; row < rows; row++) {
        const at = first + column * rows + row;
        const zigzag = (bytes[at] | (bytes[at + plane] << 8) | (bytes[at + 2 * plane] << 16) | (bytes[at + 3 * plane] << 24)) >>> 0;
        change += zigzag & 1 ? -(zigzag + 1) / 2 : zigzag / 2;
        step += change;
        whole += step;
        values[row * columns + column] = whole < 0 ? NaN : low + whole * unit;
      }
    }
    return values;
  }
}

/** The quaternion of which rows have the axis times the tangent of a quarter of the angle. */
function turned(quaternion, rows, at) {
  const x = rows[at], y = rows[at + 1], z = rows[at + 2], square = x * x + y * y + z * z, share = 1 / (1 + square);
  return quaternion.set(2 * x * share, 2 * y * share, 2 * z * share, (1 - square) * share);
}

/** How a node moves in the one above it: rows of moment, place, turn and, where they change, scale and whether it is seen. */
class Track {
  constructor(node, rows, columns) {
    Object.assign(this, { node, rows, columns, count: rows.length / columns, at: 0 });
    this.turn = new Quaternion();
    this.place = new Vector3();
  }

  show(time) {
    const { node, rows, columns, count } = this;
    if (time < rows[columns * this.at]) this.at = 0;
    while (this.at + 2 < count && rows[columns * (this.at + 1)] <= time) this.at += 1;
    const a = columns * this.at, b = count > 1 ? a + columns : a;
    const share = b > a ? Math.min(Math.max((time - rows[a]) / (rows[b] - rows[a]), 0), 1) : 0;
    node.position.fromArray(rows, a + 1).lerp(this.place.fromArray(rows, b + 1), share);
    turned(node.quaternion, rows, a + 4).slerp(turned(this.turn, rows, b + 4), share);
    if (columns < 11) return;
    node.scale.fromArray(rows, a + 7).lerp(this.place.fromArray(rows, b + 7), share);
    node.visible = rows[(share < 1 ? a : b) + 10] > 0;
  }
}

/** One quantity of all lanes over time, with a cursor; a click or a drag moves the time. */
class Plot {
  constructor(viewer, host, names, chosen) {
    this.viewer = viewer;
    this.select = host.appendChild(document.createElement("select"));
    this.canvas = host.appendChild(document.createElement("canvas"));
    this.line = host.appendChild(document.createElement("i")); // the time: moved, with nothing painted anew
    for (const name of names) this.select.add(new Option(name, name, false, name === chosen));
    this.select.addEventListener("change", () => this.paint());
    const at = (event) => {
      if (!(event.buttons & 1)) return;
      const box = this.canvas.getBoundingClientRect();
      viewer.seek(((event.clientX - box.left - this.left) / (box.width - this.left)) * viewer.about.duration_s);
    };
    this.canvas.addEventListener("pointerdown", at);
    this.canvas.addEventListener("pointermove", at);
    this.left = 46;
  }

  resize() {
    const ratio = Math.min(devicePixelRatio, 2), { clientWidth, clientHeight } = this.canvas;
    if (this.ratio === ratio && this.size?.[0] === clientWidth && this.size?.[1] === clientHeight) return;
    this.canvas.width = clientWidth * ratio;
    this.canvas.height = clientHeight * ratio;
    [this.ratio, this.size] = [ratio, [clientWidth, clientHeight]];
    this.line.style.top = `${this.canvas.offsetTop}px`;
    this.line.style.height = `${clientHeight}px`;
    this.paint();
  }

  /** Draws the curves once; `cursor` puts the time over them. */
  paint() {
    const { width, height } = this.canvas;
    if (!width || !height) return;
    const pen = this.canvas.getContext("2d");
    const lines = this.viewer.about.lanes.flatMap((lane, k) =>
      this.viewer.hidden.has(k) || !lane.curves[this.select.value] ? [] : [{
        tint: lane.tint, time: this.viewer.curves.array(lane.time), values: this.viewer.curves.array(lane.curves[this.select.value]),
      }]);
    let [low, high] = reach(lines.map((line) => line.values));
    if (high - low < 1e-9 * Math.max(1, Math.abs(high))) { low -= 0.5; high += 0.5; }
    const pad = 0.06 * (high - low), r = this.ratio, left = this.left * r;
    low -= pad; high += pad;
    const x = (t) => left + (t / this.viewer.about.duration_s) * (width - left);
    const y = (v) => height - 3 * r - ((v - low) / (high - low)) * (height - 6 * r);
    pen.clearRect(0, 0, width, height);
    pen.font = `${10.5 * r}px system-ui, sans-serif`;
    pen.fillStyle = "#9aa6b2";
    pen.strokeStyle = "rgba(255,255,255,0.09)";
    pen.lineWidth = r;
    for (const v of [low + pad, 0.5 * (low + high), high - pad]) {
      pen.fillText(short(v), 0, y(v) + 3.5 * r);
      pen.beginPath(); pen.moveTo(left, y(v)); pen.lineTo(width, y(v)); pen.stroke();
    }
    pen.lineWidth = 1.6 * r;
    for (const line of lines) {
      pen.strokeStyle = `rgb(${line.tint.map((c) => Math.round(255 * Math.min(1, c))).join(",")})`;
      pen.beginPath();
      for (let k = 0; k < line.time.length; k++) {
        const v = line.values[k];
        if (Number.isFinite(v)) pen[k ? "lineTo" : "moveTo"](x(line.time[k]), y(v));
      }
      pen.stroke();
    }
    this.shown = null;
    this.cursor(this.viewer.time);
  }

  cursor(time) {
    if (!this.size || this.shown === time) return;
    this.shown = time;
    const at = this.left + (time / this.viewer.about.duration_s) * (this.size[0] - this.left);
    this.line.style.transform = `translateX(${this.canvas.offsetLeft + at}px)`;
  }
}

/** From where to where curves go; where a few numbers would leave the others a flat line, as of a lane that blew up, without these. */
function reach(curves) {
  const sorted = Float64Array.from(curves.flatMap((values) => Array.from(values).filter(Number.isFinite))).sort();
  const last = sorted.length - 1;
  if (last < 0) return [0, 1];
  const most = sorted.slice(Math.floor(FEW * last), Math.ceil((1 - FEW) * last) + 1), low = most[0], high = most.at(-1);
  return sorted[last] - sorted[0] > BLOWN_UP * (high - low) && high > low ? [low, high] : [sorted[0], sorted[last]];
}

/** A number in at most six letters. */
function short(value) {
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e5 || size < 1e-3)) return value.toExponential(1).replace("e+", "e");
  return String(+value.toPrecision(4));
}

/** A patch of a colour, linear RGB. */
function swatch(tint) {
  const patch = document.createElement("i");
  patch.style.background = `#${new Color(...tint).getHexString()}`;
  return patch;
}

/** Cameras, lanes that may be hidden, and plots. */
function choices(viewer, names) {
  const { about } = viewer;
  const cameras = [["follow", "Follow"], ["chase", "Chase"], ["free", "Stay"]];
  if (about.camera) cameras.push(["recorded", "As recorded"]);
  const before = viewer.byId("camera").value;
  viewer.byId("camera").replaceChildren(...cameras.map(([value, text]) => new Option(text, value)));
  if (about.camera) viewer.byId("camera").value = "recorded";
  if (before) viewer.byId("camera").value = before;
  about.lanes.forEach((lane, k) => {
    const label = viewer.byId("lanes").appendChild(document.createElement("label"));
    const box = Object.assign(document.createElement("input"), { type: "checkbox", checked: true });
    label.append(box, swatch(lane.tint), lane.name);
    box.addEventListener("change", () => {
      viewer.hidden[box.checked ? "delete" : "add"](k);
      viewer.plots.forEach((plot) => plot.paint());
    });
  });
  const forces = new Map(about.lanes.flatMap((lane) => lane.forces ?? []).map((force) => [force.who, force.tint]));
  if (forces.size) {
    const label = viewer.byId("lanes").appendChild(document.createElement("label"));
    label.title = `Forces of: ${[...forces.keys()].join(", ")} (V)`;
    const box = Object.assign(document.createElement("input"), { type: "checkbox", id: "forces" });
    box.addEventListener("change", () => { viewer.forces = box.checked; });
    label.append(box, "forces");
    for (const [who, tint] of forces) {
      label.append(swatch(tint), who);
    }
  }
  if (about.plan) {
    const label = viewer.byId("lanes").appendChild(document.createElement("label"));
    label.title = "The way that was planned, its marks and its vehicle along it (P)";
    const box = Object.assign(document.createElement("input"), { type: "checkbox", id: "plan", checked: true });
    box.addEventListener("change", () => {
      viewer.planShown = box.checked;
      if (viewer.plan) viewer.plan.visible = box.checked;
    });
    label.append(box, "plan");
  }
  viewer.plots = about.first_plots.slice(0, PLOTS).map((name) => new Plot(viewer, viewer.byId("plots").appendChild(document.createElement("section")), names, name));
}

function controls(viewer, keys, signal) {
  const { about } = viewer;
  const heading = document.createElement("summary");
  heading.append(Object.assign(document.createElement("h1"), { textContent: about.title }));
  const { clientWidth, clientHeight } = viewer.byId("view");
  viewer.byId("caption").open = clientWidth >= ROOMY_PX[0] && clientHeight >= ROOMY_PX[1];
  viewer.byId("caption").append(heading, ...about.caption.map(({ text, tint }) => {
    const line = document.createElement("p");
    if (tint) line.appendChild(swatch(tint));
    line.append(text);
    return line;
  }));
  viewer.byId("play").addEventListener("click", () => viewer.play(!viewer.playing));
  viewer.byId("time").addEventListener("input", (event) => viewer.seek(event.target.value * about.duration_s));
  viewer.byId("speed").addEventListener("change", (event) => { viewer.speed = Number(event.target.value); });
  keys.addEventListener("keydown", (event) => {
    if (event.composedPath()[0].tagName === "SELECT") return;
    if (event.code === "Space") { event.preventDefault(); viewer.play(!viewer.playing); event.composedPath()[0].blur?.(); }
    if (event.code === "KeyV") viewer.byId("forces")?.click();
    if (event.code === "KeyP") viewer.byId("plan")?.click();
    if (event.code === "ArrowRight") viewer.seek(viewer.time + 0.1);
    if (event.code === "ArrowLeft") viewer.seek(viewer.time - 0.1);
  }, { signal });
  choices(viewer, [...new Set(about.lanes.flatMap((lane) => Object.keys(lane.curves)))]);
}

/**
 * Shows a motion, or what a running simulation sends, in an element until `signal` is aborted; gives the viewer.
 * scene, curves: gzipped bytes. keys: where keys are pressed. link: to the simulation, as `live` wants it.
 */
async function mount(host, about, { scene, curves, keys, signal, link, onViewer }) {
  host.id = "stage";
  host.tabIndex = -1;
  host.innerHTML = `<style>${STYLE}</style>${FRAME}`;
  const speed = host.querySelector("#speed");
  for (const value of SPEEDS) speed.add(new Option(`${value} x`, value, false, value === 1));
  if (about.live) {
    Viewer.prototype.controls = function (names) { choices(this, names); };
    await live(Viewer, host, about, { link, keys, signal, onViewer }).catch((error) => { host.querySelector("#notice").textContent = error.message; });
    return;
  }
  const [glb, values] = await Promise.all([unpacked(scene), unpacked(curves)]);
  const viewer = new Viewer(host, about, new Curves(values));
  let before = performance.now(), left = Infinity, building = null;
  const build = async () => {
    try {
      await viewer.wake(glb);
    } catch (error) {
      viewer.renderer = null;
      viewer.failed = true;
      viewer.byId("notice").textContent = `No picture: ${error.message}. The plots work without it.`;
    }
    viewer.resize();
  };
  controls(viewer, keys, signal);
  new ResizeObserver(() => viewer.resize()).observe(host);
  for (const kind of TOUCHES) host.addEventListener(kind, () => { viewer.touched = performance.now(); }, { signal });
  keys.addEventListener("keydown", () => { viewer.touched = performance.now(); }, { signal });
  const looked = new Promise((resolve) => {
    const inSight = new IntersectionObserver(async (entries) => {
      const seen = entries.at(-1).isIntersecting;
      left = seen ? Infinity : performance.now();
      if (seen && !viewer.renderer && !viewer.failed) {
        building ??= build();
        await building;
        building = null;
      }
      resolve();
    });
    inSight.observe(host);
    signal?.addEventListener("abort", () => { inSight.disconnect(); viewer.dispose(); });
  });
  await looked;
  const next = (now) => {
    if (signal?.aborted) return;
    if (now - left > ASLEEP_MS) viewer.sleep();
    else if (!building && !viewer.moves) viewer.rest();
    else if (!building) viewer.draw(Math.min(Math.max(1e-3 * (now - before), 0), 0.25));
    before = now;
    requestAnimationFrame(next);
  };
  requestAnimationFrame(next);
  onViewer(viewer);
}

/** What an exported page, or the one that a window serves, consists of. */
export function page() {
  const read = (id) => bytesOf(document.getElementById(id).textContent.trim());
  const about = JSON.parse(document.getElementById("about").textContent);
  const host = document.body.appendChild(document.createElement("main"));
  const onViewer = (viewer) => { window.holonomy = viewer; };
  const data = about.live ? { link: webSocket } : { scene: read("scene"), curves: read("curves") };
  return mount(host, about, { ...data, keys: window, onViewer });
}

/** A cell of a notebook, by anywidget: `model` holds what a page would, or passes messages of a simulation on. */
export function render({ model, el }) {
  const outer = el.appendChild(document.createElement("div"));
  const host = outer.attachShadow({ mode: "open" }).appendChild(document.createElement("main"));
  const end = new AbortController();
  const bytes = (name) => { const view = model.get(name); return new Uint8Array(view.buffer, view.byteOffset, view.byteLength).slice(); };
  const about = JSON.parse(model.get("about"));
  outer.style.height = `${model.get("height_px")}px`;
  const tell = (name, value) => { model.set(name, value); model.save_changes(); };
  const onViewer = (viewer) => {
    outer.holonomy = viewer;
    if (about.live) return;
    const moved = () => viewer.moved(model.get("time_s") - about.begin_s);
    const played = () => viewer.play(model.get("playing"), false);
    viewer.onPlay = (playing) => { tell("playing", playing); if (!playing) tell("time_s", about.begin_s + viewer.time); };
    moved();
    played();
    model.on("change:time_s", moved);
    model.on("change:playing", played);
    end.signal.addEventListener("abort", () => { model.off("change:time_s", moved); model.off("change:playing", played); });
  };
  const data = about.live ? { link: passedOn(model, end.signal) } : { scene: bytes("scene"), curves: bytes("curves") };
  mount(host, about, { ...data, keys: host, signal: end.signal, onViewer });
  return () => { end.abort(); outer.remove(); };
}
