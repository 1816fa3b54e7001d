// A window that was started with --listen, for JavaScript without a library. Node before 22 wants --experimental-websocket.
//
//     const app = await connect(`${homedir()}/.config/holonomy/live.json`);
//     await app.command("SetPaused", { paused: true });
//     for await (const { snapshot, skipped } of app.stream(0.02)) console.log(snapshot.time_s, skipped);
//
// What may be asked for, and what answers: sim/live/wire.py. Arrays come as { shape, values }.

import { readFileSync } from "node:fs";

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

/** The window whose port and token stand in this file. Refused in one line where there is none, or the token is not its. */
export async function connect(file) {
  const { port, token } = JSON.parse(readFileSync(file, "utf8"));
  const socket = new WebSocket(`ws://127.0.0.1:${port}`, ["holonomy", `holonomy.token.${token}`]);
  socket.binaryType = "arraybuffer";
  await new Promise((opened, refused) => {
    socket.onopen = opened;
    socket.onerror = () => refused(new Error("no window listens, or the token is not its"));
  });
  return new App(socket);
}

/** A running window: requests one after the other, or a stream. */
class App {
  constructor(socket) {
    this.socket = socket;
    this.count = 0;
    this.come = [];
    this.taken = () => undefined;
    socket.onmessage = (event) => { this.come.push(unpacked(new Uint8Array(event.data))); this.taken(); };
    socket.onclose = (event) => { this.gone = new Error(`the window has gone: ${event.reason}`); this.taken(); };
  }

  /** The next message, in the order in which they come. */
  async next() {
    while (!this.come.length && !this.gone) await new Promise((taken) => { this.taken = taken; });
    if (!this.come.length) throw this.gone;
    return this.come.shift();
  }

  /** The answer to a request. */
  async ask(request) {
    this.socket.send(new Blob(packed({ id: (this.count = (this.count + 1) % 128), ...request })));
    const answer = await this.next();
    if (answer.error) throw new Error(answer.error);
    return answer;
  }

  /** One of sim.commands, carried out; with look what came of it. */
  command(name, fields = {}, look = false) {
    return this.ask({ ask: "do", command: name, fields, look });
  }

  /** Snapshots as they come, always the latest, and how many were skipped; no further requests on this connection. */
  async *stream(every_s) {
    await this.ask({ ask: "stream", every_s });
    while (true) {
      let { snapshot, skipped } = await this.next();
      while (this.come.length) {
        const later = this.come.shift();
        [snapshot, skipped] = [later.snapshot, skipped + 1 + later.skipped];
      }
      yield { snapshot, skipped };
    }
  }

  close() {
    this.socket.close();
  }
}
