import assert from 'node:assert/strict';
import path from 'node:path';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import Fastify from 'fastify';
import { testLogger } from '../../../test/support/call.ts';
import { temporaryFolder } from '../../../test/support/config-folder.ts';
import { slowDisk } from '../../../test/support/slow-disk.ts';
import { openStores } from '../../stores/index.ts';
import type { Deps } from '../deps.ts';
import { ready } from './health.ts';
import type { ReadyAnswer } from './wire.ts';

describe('GET /ready', () => {
  test('says no while the disk does not answer, and yes once it does again', async (context) => {
    const folder = temporaryFolder(context);
    const { database, standStill, goOn } = slowDisk(path.join(folder, 'sluice.db'));
    const stores = openStores({ dataDir: folder }, testLogger(), undefined, database);
    const app = Fastify();
    context.after(() => Promise.all([app.close(), stores.close()]));
    app.get('/ready', ready({ calls: { draining: false } as Deps['calls'], stores }));
    const origin = await app.listen({ host: '127.0.0.1', port: 0 });
    /** What is answered in the end. */
    const become = async (expected: ReadyAnswer, status: number) => {
      for (let left = 100; ; left -= 1) {
        const response = await fetch(`${origin}/ready`);
        const found = [response.status, await response.json()];
        if (left === 0 || isDeepStrictEqual(found, [status, expected])) {
          return assert.deepEqual(found, [status, expected]);
        }
        await sleep(100);
      }
    };
    await become({ status: 'ready' }, 200);
    standStill();
    await assert.rejects(stores.log.newest(1), { code: 'storage_failed' });
    await become({ status: 'storage_failed', message: 'The disk does not answer.' }, 503);
    goOn();
    await become({ status: 'ready' }, 200);
  });
});
