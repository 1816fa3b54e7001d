// Reads a window's stream as programs do that are not quick: `node reader.mjs FILE EVERY_S MESSAGES ASLEEP_MS`.
//
// After each message it sleeps, and reads nothing meanwhile. Prints of each, as a line of JSON, its time [s] and how many were
// skipped before it.

import { connect } from "../../examples/holonomy.mjs";

const [file, every, messages, asleep] = process.argv.slice(2);
const nobody = new Int32Array(new SharedArrayBuffer(4));
let left = Number(messages);
try {
  const app = await connect(file);
  for await (const { snapshot, skipped } of app.stream(Number(every))) {
    console.log(JSON.stringify([snapshot.time_s, skipped]));
    if (--left <= 0) break;
    Atomics.wait(nobody, 0, 0, Number(asleep));
  }
  app.close();
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
