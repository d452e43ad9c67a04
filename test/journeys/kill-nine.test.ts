import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { killNine } from '../../scripts/kill-nine/run.ts';
import { storeSubject } from '../../scripts/kill-nine/store-subject.ts';
import type { Running, Subject } from '../../scripts/kill-nine/subject.ts';
import { temporaryFolder } from '../support/config-folder.ts';

const CYCLES = 5;

describe('kill -9 under concurrent writes', () => {
  test('loses nothing that was acknowledged, and leaves nothing half-written', async (context) => {
    const { findings, acknowledged, leftovers } = await killNine(storeSubject(temporaryFolder(context)), CYCLES);
    assert.deepEqual(findings, []);
    assert.equal(leftovers, 0);
    assert.ok(acknowledged > CYCLES, `${acknowledged} writes are no test`);
  });

  test('would be noticed: a store that promises too early, or keeps halves', async (context) => {
    const honest = storeSubject(temporaryFolder(context));
    const { lost } = await killNine(changed(honest, { putChat: () => sleep(1) }), 2);
    assert.ok(lost > 0);
    const torn = await killNine(changed(storeSubject(temporaryFolder(context)), halves), 2);
    assert.ok(torn.torn > 0);
  });
});

/** Every second file is cut on its way. */
const halves = (running: Running): Partial<Running> => ({
  writeFile: (bucket, name, text) => running.writeFile(bucket, name, text.slice(0, text.length / 2)),
});

/** The same with some of its work done wrong. */
function changed(subject: Subject, wrong: Partial<Running> | ((running: Running) => Partial<Running>)): Subject {
  return {
    ...subject,
    async start() {
      const running = await subject.start();
      return { ...running, ...(typeof wrong === 'function' ? wrong(running) : wrong) };
    },
  };
}
