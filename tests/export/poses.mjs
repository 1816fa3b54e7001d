// World matrices of a glTF file's nodes at given times, as three.js has them: node poses.mjs FILE TIMES_JSON -> JSON.
import {readFileSync} from 'fs';
globalThis.self = globalThis;
const THREE = await import('three');
const {GLTFLoader} = await import('three/examples/jsm/loaders/GLTFLoader.js');
const bytes = readFileSync(process.argv[2]), times = JSON.parse(readFileSync(process.argv[3]));
const gltf = await new GLTFLoader().parseAsync(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length), '');
const mixer = new THREE.AnimationMixer(gltf.scene);
for (const clip of gltf.animations) { const action = mixer.clipAction(clip); action.setLoop(THREE.LoopOnce); action.clampWhenFinished = true; action.play(); }
// Names are not unique: a node goes by the path of names that leads to it, as the file has them.
const key = new Map();
gltf.parser.associations.forEach((value, object) => { if (object.isObject3D && value.nodes !== undefined) key.set(object, gltf.parser.json.nodes[value.nodes].name); });
const path = (o) => (o.parent && key.has(o.parent) ? path(o.parent) + '/' : '') + key.get(o);
const world = gltf.scene.children[0];
const found = [];
for (const time of times) {
  mixer.setTime(time);
  gltf.scene.updateMatrixWorld(true);
  const back = world.matrixWorld.clone().invert();
  const row = {};
  gltf.scene.traverse((o) => { if (key.has(o)) row[path(o)] = back.clone().multiply(o.matrixWorld).elements; });
  found.push(row);
}
console.log(JSON.stringify(found));
