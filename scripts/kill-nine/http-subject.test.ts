import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { temporaryFolder } from '../../test/support/config-folder.ts';
import { makeContent } from './content.ts';
import { httpSubject } from './http-subject.ts';
import type { RunningGateway } from './running-gateway.ts';
import type { Actor, Finding, Subject } from './subject.ts';

const ACTORS = ['chat', 'memory', 'upload', 'usage', 'log', 'conversation'] as const;

/** What each actor is told wrongly after it wrote, and what it has to call that. */
const WRONG: readonly (readonly [
  what: string,
  actor: (typeof ACTORS)[number],
  wrong: (running: RunningGateway) => Partial<RunningGateway>,
  kind: Finding['kind'],
])[] = [
  ['a chat that is gone', 'chat', () => ({ getChat: async () => undefined }), 'lost'],
  ['an older chat', 'chat', () => ({ getChat: async () => makeContent(1) }), 'lost'],
  ['a chat that was cut', 'chat', cutChat, 'torn'],
  [
    'a statement that is gone',
    'memory',
    (on) => ({ memory: async (...asked) => (await on.memory(...asked)).slice(1) }),
    'lost',
  ],
  [
    'a statement that was cut',
    'memory',
    (on) => ({ memory: async (...asked) => (await on.memory(...asked)).map((text) => text.slice(1)) }),
    'torn',
  ],
  [
    'a statement that no search finds',
    'memory',
    (on) => ({ memory: async (user, words) => (words === undefined ? await on.memory(user) : []) }),
    'lost',
  ],
  ['a bucket that is gone', 'upload', () => ({ bucket: async () => ({ text: '', media: [] }) }), 'lost'],
  [
    'a bucket that holds more',
    'upload',
    (on) => ({ bucket: async (id) => ({ ...(await on.bucket(id)), text: `${(await on.bucket(id)).text}x` }) }),
    'torn',
  ],
  ['a picture that is gone', 'upload', () => ({ media: async () => undefined }), 'lost'],
  [
    'a picture that was cut',
    'upload',
    (on) => ({ media: async (...asked) => (await on.media(...asked))?.subarray(1) }),
    'torn',
  ],
  ['a thumbnail that was cut', 'upload', cutThumbnail, 'torn'],
  [
    'a record of usage that is gone',
    'usage',
    (on) => ({ usage: async (user) => less(await on.usage(user), 1) }),
    'lost',
  ],
  [
    'records and sums that differ',
    'usage',
    (on) => ({ usage: async (user) => ({ ...(await on.usage(user)), summed: 1 }) }),
    'torn',
  ],
  [
    'a turn of a conversation that is gone',
    'conversation',
    (on) => ({ items: async (id) => (await on.items(id)).slice(0, -2) }),
    'lost',
  ],
  [
    'half a turn of a conversation',
    'conversation',
    (on) => ({ items: async (id) => (await on.items(id)).slice(0, -1) }),
    'torn',
  ],
];

describe('the gateway as what is killed', { timeout: 120_000 }, () => {
  let folder: string;
  let subject: Subject<RunningGateway>;
  let running: RunningGateway;
  const done: (() => void)[] = [];
  before(async () => {
    folder = temporaryFolder({ after: (work) => done.push(work) });
    subject = httpSubject(folder);
    running = await subject.start();
  });
  after(async () => {
    await running.kill();
    for (const work of done) work();
  });

  /** An actor that wrote at least twice, an uploader at least one text and one picture. */
  async function written(name: (typeof ACTORS)[number], id: string): Promise<Actor<RunningGateway>> {
    const actor = subject.actors(id)[ACTORS.indexOf(name)];
    assert.ok(actor !== undefined);
    for (let writes = 1; writes < 100; writes += 1) {
      await actor.write(running);
      const { text, media } = await running.bucket(`b${id}`);
      if (writes > 1 && (name !== 'upload' || (text !== '' && media.length > 0))) break;
    }
    return actor;
  }

  for (const [index, [what, name, wrong, kind]] of WRONG.entries()) {
    test(`notices ${what}`, async () => {
      const actor = await written(name, `w${index}`);
      assert.deepEqual(await actor.verify(running), []);
      const findings = await actor.verify({ ...running, ...wrong(running) });
      assert.ok(
        findings.some((finding) => finding.kind === kind),
        JSON.stringify(findings),
      );
    });
  }

  test('notices a log record that was acknowledged and never kept', async () => {
    const actor = await written('log', 'early');
    assert.deepEqual(await actor.verify(running), []);
    await actor.write({ ...running, addLog: async () => {} });
    assert.deepEqual(
      (await actor.verify(running)).map(({ kind }) => kind),
      ['lost'],
    );
  });

  test('counts stray files, and notices when one is served', async () => {
    const stray = path.join(folder, 'data/files/uploads/stray');
    mkdirSync(path.dirname(stray), { recursive: true });
    writeFileSync(stray, 'x');
    assert.deepEqual(await subject.inspect?.(running), { findings: [], strays: 1 });
    const inspection = await subject.inspect?.({ ...running, statusOf: async () => 200 });
    assert.match(inspection?.findings[0]?.what ?? '', /stray is served/);
  });
});

function cutChat(running: RunningGateway): Partial<RunningGateway> {
  return {
    async getChat(...asked) {
      const found = await running.getChat(...asked);
      return found === undefined ? undefined : { ...found, filler: found.filler.slice(1) };
    },
  };
}

/** As it is at the first look after a restart: nothing was seen before. */
function cutThumbnail(running: RunningGateway): Partial<RunningGateway> {
  return {
    async media(bucket, form, name) {
      const bytes = await running.media(bucket, form, name);
      return form === 'thumbnail' ? bytes?.subarray(0, bytes.length / 2) : bytes;
    },
  };
}

function less({ records, summed }: Awaited<ReturnType<RunningGateway['usage']>>, count: number) {
  return { records: records.slice(0, -count), summed: summed - count };
}
