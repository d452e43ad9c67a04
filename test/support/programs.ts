import { spawnSync } from 'node:child_process';

/** Why a test of shell commands has to be skipped here; false when both programs are installed. */
export const withoutShell: string | false =
  ['bash', 'curl'].find((program) => spawnSync(program, ['--version']).status !== 0)?.concat(' is not installed') ??
  false;
