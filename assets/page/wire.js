// Messages as sim/live/wire.py has them: msgpack, with arrays as extensions of type 1.

const TYPES = { "<f8": Float64Array, "<f4": Float32Array, "<i8": BigInt64Array, "<i4": Int32Array, "|b1": Uint8Array };
const text = new TextDecoder();

/** What a message holds. */
export function decode(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;
  const number = (size, read) => { const found = view[read](at); at += size; return found; };
  const raw = (count) => { const part = bytes.subarray(at, at + count); at += count; return part; };
  const list = (count) => Array.from({ length: count }, value);
  const map = (count) => { const found = {}; for (; count > 0; count--) { const key = value(); found[key] = value(); } return found; };
  const extension = (count) => {
    const code = number(1, "getInt8"), [kind, shape, data] = decode(raw(count));
    if (code !== 1) throw new Error(`extension ${code} is unknown`);
    const whole = data.slice(); // at an address that suits its numbers
    return Object.assign(new TYPES[kind](whole.buffer), { shape });
  };
  function value() {
    const kind = number(1, "getUint8");
    if (kind < 0x80) return kind;
    if (kind < 0x90) return map(kind & 15);
    if (kind < 0xa0) return list(kind & 15);
    if (kind < 0xc0) return text.decode(raw(kind & 31));
    if (kind >= 0xe0) return kind - 256;
    switch (kind) {
      case 0xc0: return null;
      case 0xc2: return false;
      case 0xc3: return true;
      case 0xc4: return raw(number(1, "getUint8"));
      case 0xc5: return raw(number(2, "getUint16"));
      case 0xc6: return raw(number(4, "getUint32"));
      case 0xc7: return extension(number(1, "getUint8"));
      case 0xc8: return extension(number(2, "getUint16"));
      case 0xc9: return extension(number(4, "getUint32"));
      case 0xca: return number(4, "getFloat32");
      case 0xcb: return number(8, "getFloat64");
      case 0xcc: return number(1, "getUint8");
      case 0xcd: return number(2, "getUint16");
      case 0xce: return number(4, "getUint32");
      case 0xcf: return Number(number(8, "getBigUint64"));
      case 0xd0: return number(1, "getInt8");
      case 0xd1: return number(2, "getInt16");
      case 0xd2: return number(4, "getInt32");
      case 0xd3: return Number(number(8, "getBigInt64"));
      case 0xd4: case 0xd5: case 0xd6: case 0xd7: case 0xd8: return extension(1 << (kind - 0xd4));
      case 0xd9: return text.decode(raw(number(1, "getUint8")));
      case 0xda: return text.decode(raw(number(2, "getUint16")));
      case 0xdb: return text.decode(raw(number(4, "getUint32")));
      case 0xdc: return list(number(2, "getUint16"));
      case 0xdd: return list(number(4, "getUint32"));
      case 0xde: return map(number(2, "getUint16"));
      case 0xdf: return map(number(4, "getUint32"));
      default: throw new Error(`byte ${kind} begins nothing`);
    }
  }
  return value();
}

/** A message of maps, lists, texts, truth values and numbers. */
export function encode(value) {
  const out = [];
  const put = (size, write, number) => {
    const view = new DataView(new ArrayBuffer(size));
    view[write](0, number);
    out.push(...new Uint8Array(view.buffer));
  };
  const add = (part) => {
    if (part === null || part === undefined) out.push(0xc0);
    else if (part === false || part === true) out.push(part ? 0xc3 : 0xc2);
    else if (typeof part === "number" && Number.isInteger(part) && Math.abs(part) < 2 ** 31) { out.push(0xd2); put(4, "setInt32", part); }
    else if (typeof part === "number") { out.push(0xcb); put(8, "setFloat64", part); }
    else if (typeof part === "string") {
      const bytes = new TextEncoder().encode(part);
      out.push(0xdb); put(4, "setUint32", bytes.length); out.push(...bytes);
    } else if (Array.isArray(part)) { out.push(0xdd); put(4, "setUint32", part.length); part.forEach(add); }
    else {
      const entries = Object.entries(part);
      out.push(0xdf); put(4, "setUint32", entries.length);
      for (const [key, inner] of entries) { add(key); add(inner); }
    }
  };
  add(value);
  return Uint8Array.from(out);
}
