// Compiles src/core/plain-text.wat, and prints it as plain-text.ts holds it.
import { readFile } from 'node:fs/promises';
import wabt from 'wabt';

const file = new URL('../src/core/plain-text.wat', import.meta.url);
const { parseWat } = await wabt();
const module = parseWat('plain-text.wat', await readFile(file, 'utf8'), { simd: true });
console.log(Buffer.from(module.toBinary({}).buffer).toString('base64'));
