import { writeFileSync } from 'node:fs';
import { makeTinyGguf, TINY_ANSWER } from '../test/support/tiny-gguf.ts';

/** Writes the tests' model, for trying the embedded provider by hand: node scripts/make-tiny-gguf.ts models/tiny.gguf */
const [path] = process.argv.slice(2);
if (path === undefined) {
  console.error('usage: node scripts/make-tiny-gguf.ts <file.gguf>');
  process.exitCode = 2;
} else {
  const bytes = makeTinyGguf();
  writeFileSync(path, bytes);
  console.log(`${path}: ${bytes.length} bytes. It always answers: ${TINY_ANSWER}`);
}
