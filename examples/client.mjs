// Flies the first lane of a window that was started with --listen, from JavaScript without a library:
//
//     node examples/client.mjs ~/.config/holonomy/live.json 20 49 0 0.01 0
//
// pauses it, goes on by so many times ten steps under these controls, and prints after each the time [s] and the pose of the
// first body (4 x 4, rows one after the other), as a line of JSON. Node before 22 wants --experimental-websocket.

import { readFileSync } from "node:fs";

const [file, rounds, ...controls] = process.argv.slice(2);
const { port, token } = JSON.parse(readFileSync(file, "utf8"));
const socket = new WebSocket(`ws://127.0.0.1:${port}`, ["holonomy", `holonomy.token.${token}`]);
socket.binaryType = "arraybuffer";

/** Of maps, texts, truth values, numbers and arrays of numbers: msgpack. */
function packed(value) {
  const size = (head, count) => Uint8Array.of(head, count >> 24, count >> 16, count >> 8, count);
  const float = (number) => { const b = new DataView(new ArrayBuffer(9)); b.setUint8(0, 0xcb); b.setFloat64(1, number); return new Uint8Array(b.buffer); };
  if (typeof value === "boolean") return [Uint8Array.of(value ? 0xc3 : 0xc2)];
  if (typeof value === "number") return [Number.isInteger(value) && value >= 0 && value < 128 ? Uint8Array.of(value) : float(value)];
  if (typeof value === "string") { const text = new TextEncoder().encode(value); return [size(0xdb, text.length), text]; }
  if (Array.isArray(value)) return [size(0xdd, value.length), ...value.flatMap(packed)];
  const entries = Object.entries(value);
  return [size(0xdf, entries.length), ...entries.flat().flatMap(packed)];
}

/** What a message of msgpack holds; arrays are an extension of type 1 that holds their type, shape and bytes. */
function unpacked(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  let at = 0;
  const part = (count) => bytes.subarray(at, (at += count));
  const read = (kind, size) => { at += size; return Number(view[`get${kind}`](at - size)); };
  const unsigned = (power) => read(["Uint8", "Uint16", "Uint32", "BigUint64"][power], 2 ** power);
  const signed = (power) => read(["Int8", "Int16", "Int32", "BigInt64"][power], 2 ** power);
  const text = (count) => new TextDecoder().decode(part(count));
  const list = (count) => Array.from({ length: count }, any);
  const map = (count) => Object.fromEntries(Array.from({ length: count }, () => [any(), any()]));
  const array = (count) => {
    const type = read("Int8", 1), [kind, shape, data] = unpacked(part(count));
    if (type !== 1) throw new Error(`extension ${type}`);
    const reads = { "<f8": ["Float64", 8], "<f4": ["Float32", 4], "<i8": ["BigInt64", 8], "<i4": ["Int32", 4], "|b1": ["Uint8", 1] };
    const [how, size] = reads[kind], numbers = new DataView(data.buffer, data.byteOffset, data.length);
    return { shape, values: Array.from({ length: data.length / size }, (_, k) => Number(numbers[`get${how}`](k * size, true))) };
  };
  function any() {
    const head = unsigned(0);
    if (head < 0x80) return head;
    if (head < 0x90) return map(head & 15);
    if (head < 0xa0) return list(head & 15);
    if (head < 0xc0) return text(head & 31);
    if (head >= 0xe0) return head - 256;
    if (head === 0xc0) return null;
    if (head <= 0xc3) return head === 0xc3;
    if (head <= 0xc6) return part(unsigned(head - 0xc4));
    if (head <= 0xc9) return array(unsigned(head - 0xc7));
    if (head <= 0xcb) return head === 0xca ? read("Float32", 4) : read("Float64", 8);
    if (head <= 0xcf) return unsigned(head - 0xcc);
    if (head <= 0xd3) return signed(head - 0xd0);
    if (head <= 0xd8) return array(2 ** (head - 0xd4));
    if (head <= 0xdb) return text(unsigned(head - 0xd9));
    if (head <= 0xdd) return list(unsigned(head - 0xdb));
    return map(unsigned(head - 0xdd));
  }
  return any();
}

let count = 0;
/** The answer to a request. */
function asked(request) {
  return new Promise((answered, refused) => {
    socket.onmessage = (event) => {
      const answer = unpacked(new Uint8Array(event.data));
      if (answer.error) refused(new Error(answer.error));
      else answered(answer);
    };
    socket.onclose = (event) => refused(new Error(`the window has gone: ${event.reason}`));
    socket.send(new Blob(packed({ id: (count = (count + 1) % 128), ...request })));
  });
}
const command = (name, fields, look = false) => asked({ ask: "do", command: name, fields, look });

await new Promise((opened, refused) => { socket.onopen = opened; socket.onerror = () => refused(new Error("no window listens, or the token is not its")); });
try {
  await command("SetPaused", { paused: true });
  for (let round = 0; round < Number(rounds); round++) {
    await command("SetControls", { values: controls.map(Number) });
    const { snapshot } = await command("SingleStep", { count: 10 }, true);
    const lane = snapshot.lanes[0], [pose] = Object.values(lane.bodies);
    console.log(JSON.stringify([lane.time_s, pose.values]));
  }
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
socket.close();
