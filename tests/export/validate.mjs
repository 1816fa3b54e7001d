// What the Khronos validator has to say about glTF files: node validate.mjs FILE... -> JSON {file: report}.
import {readFileSync} from 'fs';
import {createRequire} from 'module';
const validator = createRequire(import.meta.url)('gltf-validator');
const told = {};
for (const file of process.argv.slice(2))
  told[file] = (await validator.validateBytes(new Uint8Array(readFileSync(file)))).issues;
console.log(JSON.stringify(told));
