// Flies the first lane of a window that was started with --listen, from JavaScript without a library:
//
//     node examples/client.mjs ~/.config/holonomy/live.json 20 49 0 0.01 0
//
// pauses it, goes on by so many times ten steps under these controls, and prints after each the time [s] and the pose of the
// first body (4 x 4, rows one after the other), as a line of JSON. Node before 22 wants --experimental-websocket.

import { connect } from "./holonomy.mjs";

const [file, rounds, ...controls] = process.argv.slice(2);
try {
  const app = await connect(file);
  try {
    await app.command("SetPaused", { paused: true });
    for (let round = 0; round < Number(rounds); round++) {
      await app.command("SetControls", { values: controls.map(Number) });
      const { snapshot } = await app.command("SingleStep", { count: 10 }, true);
      const lane = snapshot.lanes[0], [pose] = Object.values(lane.bodies);
      console.log(JSON.stringify([lane.time_s, pose.values]));
    }
  } finally {
    app.close();
  }
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
