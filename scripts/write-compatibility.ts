// Writes docs/compatibility.md by running the tests that it tells of:
//   node bin/with-node.js scripts/write-compatibility.ts
import { spawnSync } from 'node:child_process';

const { status } = spawnSync(process.execPath, ['--test', 'test/matrix/matrix.test.ts'], {
  cwd: new URL('..', import.meta.url),
  env: { ...process.env, WRITE_COMPATIBILITY: '1' },
  stdio: 'inherit',
});
process.exitCode = status ?? 1;
