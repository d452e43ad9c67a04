import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { httpSubject } from '../../scripts/kill-nine/http-subject.ts';
import { killNine } from '../../scripts/kill-nine/run.ts';
import type { RunningStores } from '../../scripts/kill-nine/running-stores.ts';
import { storeSubject } from '../../scripts/kill-nine/store-subject.ts';
import type { Subject } from '../../scripts/kill-nine/subject.ts';
import { temporaryFolder } from '../support/config-folder.ts';

const CYCLES = 5;
/** The gateway takes a while to start, so there are fewer. */
const HTTP_CYCLES = 3;

describe('kill -9 under concurrent writes', () => {
  test('loses nothing that was acknowledged, and leaves nothing half-written', async (context) => {
    const { findings, acknowledged, leftovers } = await killNine(storeSubject(temporaryFolder(context)), CYCLES);
    assert.deepEqual(findings, []);
    assert.equal(leftovers, 0);
    assert.ok(acknowledged > CYCLES, `${acknowledged} writes are no test`);
  });

  test('nor does the whole gateway over HTTP', async (context) => {
    const { findings, acknowledged, leftovers } = await killNine(httpSubject(temporaryFolder(context)), HTTP_CYCLES);
    assert.deepEqual(findings, []);
    assert.equal(leftovers, 0);
    assert.ok(acknowledged > HTTP_CYCLES, `${acknowledged} writes are no test`);
  });

  test('would be noticed: a store that promises too early, or keeps halves', async (context) => {
    await noticed(context, 'lost', { putChat: () => sleep(1) });
    await noticed(context, 'torn', halves);
  });
});

/** Lives are of random length: one may end before the wrong thing was done. */
async function noticed(context: TestContext, finding: 'lost' | 'torn', wrong: Wrong): Promise<void> {
  for (let tries = 0; tries < 10; tries += 1) {
    const outcome = await killNine(changed(storeSubject(temporaryFolder(context)), wrong), 2);
    if (outcome[finding] > 0) return;
  }
  assert.fail(`nothing was ${finding}`);
}

/** Every second file is cut on its way. */
const halves = (running: RunningStores): Partial<RunningStores> => ({
  writeFile: (bucket, name, text) => running.writeFile(bucket, name, text.slice(0, text.length / 2)),
});

type Wrong = Partial<RunningStores> | ((running: RunningStores) => Partial<RunningStores>);

/** The same with some of its work done wrong. */
function changed(subject: Subject<RunningStores>, wrong: Wrong): Subject<RunningStores> {
  return {
    ...subject,
    async start() {
      const running = await subject.start();
      return { ...running, ...(typeof wrong === 'function' ? wrong(running) : wrong) };
    },
  };
}
