import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Config } from '../../src/config/config.ts';
import { type LoadOptions, loadConfig } from '../../src/config/load.ts';
import { ConfigError } from '../../src/config/problems.ts';

/** An empty folder that is removed after the test. */
export function temporaryFolder(context: { after(done: () => void): void }): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'sluice-test-'));
  // A process that was killed a moment ago may still be at its last write.
  context.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 }));
  return folder;
}

/** Loads `yaml` as sluice.yaml of `folder`, with an empty environment unless one is given. */
export async function loadYaml(folder: string, yaml: string, options: LoadOptions = {}): Promise<Config> {
  writeFileSync(path.join(folder, 'sluice.yaml'), yaml);
  return (await loadConfig({ environment: {}, directory: folder, ...options })).config;
}

/** The problems that loading ends with. */
export async function problemsOfYaml(
  folder: string,
  yaml: string,
  options: LoadOptions = {},
): Promise<readonly string[]> {
  try {
    await loadYaml(folder, yaml, options);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  throw new Error('the configuration was accepted');
}
