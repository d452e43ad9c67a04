import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, type IncomingMessage, request } from 'node:http';
import path from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { temporaryFolder } from '../support/config-folder.ts';
import { eventually } from '../support/eventually.ts';
import { runSluice, startSluice } from '../support/run-sluice.ts';
import {
  ask,
  begin,
  childrenOf,
  END,
  hasSignalWaiting,
  heedsHangup,
  isAlive,
  openWorkers,
  piece,
  QUESTION,
  stream,
  type WorkersWorld,
} from './workers-world.ts';

const isLinux = process.platform === 'linux';

interface Load {
  /** How much was answered so far. */
  readonly done: { readonly streams: number; readonly small: number };
  readonly stop: () => Promise<void>;
}

/** Asks over and over until it is told to stop; every answer must be whole and right. */
function load(world: WorkersWorld): Load {
  let isOver = false;
  const done = { streams: 0, small: 0 };
  async function streaming(): Promise<void> {
    while (!isOver) {
      const { status, whole } = await stream(world.origin);
      assert.equal(status, 200);
      const text = await whole;
      assert.equal(text.match(/"tick/g)?.length, 20, text);
      assert.match(text, /\[DONE\]\n\n$/);
      done.streams += 1;
    }
  }
  async function asking(agent: Agent | undefined): Promise<void> {
    while (!isOver) {
      const { status, text } = await ask(world.origin, '/v1/chat/completions', QUESTION, agent && { agent });
      assert.equal(status, 200, text);
      assert.match(text, /whole/);
      done.small += 1;
      await sleep(10);
    }
  }
  const kept = new Agent({ keepAlive: true, maxSockets: 2 });
  const all = [
    ...[1, 2, 3, 4].map(() => streaming()),
    ...[1, 2].map(() => asking(kept)),
    ...[1, 2].map(() => asking(undefined)),
  ];
  const together = Promise.all(all);
  together.catch(() => {
    isOver = true;
  });
  const stop = async (): Promise<void> => {
    isOver = true;
    await together;
    kept.destroy();
  };
  return { done, stop };
}

/** Sluice, whose first worker is being loaded. Both listen to signals: from here on they could be told to end. */
async function starting(context: TestContext) {
  const folder = temporaryFolder(context);
  writeFileSync(path.join(folder, 'sluice.yaml'), 'detectLocal: false\nembedded: { enabled: false }\n');
  const words = ['--bind', '127.0.0.1:0', '--workers', '2'];
  const running = startSluice(context, words, { folder, environment: { TMPDIR: folder } });
  const primary = running.process.pid ?? assert.fail('it runs');
  const [first = 0] = await eventually('the first one starts', () => {
    const found = childrenOf(primary);
    return found.length > 0 && found;
  });
  context.after(() => isAlive(first) && process.kill(first, 'SIGKILL'));
  await eventually('both listen to signals', () => heedsHangup(primary) && heedsHangup(first));
  // The folder of their sockets, and these.
  const left = () =>
    readdirSync(folder, { encoding: 'utf8', recursive: true }).filter((name) => name.startsWith('sluice-'));
  return { running, first, left };
}

describe('restarting the workers', { timeout: 480_000, skip: !isLinux }, () => {
  test('SIGHUP, three times under load: no stream is cut, nothing refused, all are new', async (context) => {
    const world = await openWorkers(context, {
      count: 2,
      play: (response) => {
        let ticks = 0;
        const timer = setInterval(() => {
          response.write(piece(`tick ${ticks}`));
          ticks += 1;
          if (ticks < 20) return;
          clearInterval(timer);
          response.end(END);
        }, 50);
        response.once('close', () => clearInterval(timer));
      },
    });
    const { done, stop } = load(world);
    const idle = new Agent({ keepAlive: true });
    await ask(world.origin, '/health', undefined, { agent: idle });
    const seen = new Set(world.workers());
    for (let round = 0; round < 2; round += 1) {
      await eventually('there is a load', () => done.streams > 8 * round && done.small > 50 * round);
      const before = world.workers();
      world.running.process.kill('SIGHUP');
      if (round === 0) {
        // Wished again while it runs, it is done again; two at once would be one wish.
        await world.running.said(/restarting the workers, one after the other/);
        world.running.process.kill('SIGHUP');
      }
      await world.running.said(new RegExp(`(?:all workers are new[^]*){${round + 2}}`));
      await eventually('the old ones are gone', () => before.every((pid) => !isAlive(pid)));
      await eventually('two are left', () => world.workers().length === 2);
      for (const pid of world.workers()) seen.add(pid);
    }
    await stop();
    const { streams, small } = done;
    idle.destroy();
    assert.ok(seen.size >= 6, `${seen.size} processes`);
    const { text } = await ask(world.origin, '/metrics');
    const count = [...text.matchAll(/^sluice_requests_total\{[^}]*completions[^}]*status="(\d+)"\} (\d+)$/gm)];
    assert.deepEqual(
      count.map(([, status, times]) => [status, Number(times)]),
      [['200', streams + small]],
      'counters outlive the workers',
    );
    world.running.process.kill('SIGTERM');
    const { code, stderr } = await world.running.ended;
    assert.equal(code, 0, stderr);
  });

  test('a request that asked whether its body is wanted may still send it', async (context) => {
    const world = await openWorkers(context, { count: 2, yaml: 'limits: { clientBodyIdleMs: 300000 }\n' });
    const body = JSON.stringify(QUESTION);
    const upload = request(`${world.origin}/v1/chat/completions`, {
      method: 'POST',
      agent: new Agent(),
      headers: {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
        expect: '100-continue',
      },
    });
    upload.flushHeaders();
    await once(upload, 'continue');
    const answered = once(upload, 'response');
    answered.catch(() => {});
    // Both workers have some of these, which have been silent for a shorter time.
    const idle = new Agent({ keepAlive: true });
    await Promise.all([1, 2, 3, 4].map(() => ask(world.origin, '/health', undefined, { agent: idle })));
    world.running.process.kill('SIGHUP');
    await world.running.said(/all workers are new/);
    await eventually('silent connections are closed', () => Object.keys(idle.freeSockets).length === 0);
    upload.end(body);
    const [{ statusCode, headers }] = (await answered) as [IncomingMessage];
    assert.deepEqual([statusCode, headers.connection], [200, 'close']);
  });

  test('a kept answer of a retired worker can be read and stopped', async (context) => {
    const world = await openWorkers(context, { count: 2 });
    const [first = 0, second = 0] = world.workers();
    const asked = { provider: 'mock', model: 'm', messages: QUESTION.messages, resumable: true };
    const begun = await begin(world.origin, '/backend-api/v2/conversation', asked);
    const path = `/backend-api/v2/streams/${begun.headers['x-sluice-stream']}`;
    begun.leave();
    world.running.process.kill('SIGHUP');
    await eventually('the idle one is gone', () => !isAlive(first) || !isAlive(second));
    await eventually('three are there', () => world.workers().length === 3);
    const reader = await begin(world.origin, path);
    world.open[0]?.write(piece('late'));
    await eventually('the late piece', () => /"late"/.test(reader.text()));
    world.open[0]?.end(END);
    assert.match(await reader.whole, /"finish"/);
    assert.match((await ask(world.origin, path)).text, /"late"/);
  });

  test('SIGHUP twice at the same moment, as from a terminal through the launcher, is one', async (context) => {
    const { running, primary } = await openWorkers(context, { count: 2 });
    running.process.kill('SIGHUP');
    // Two that wait are one to the system already.
    await eventually('it is told of the first', () => !hasSignalWaiting(primary));
    running.process.kill('SIGHUP');
    await running.said(/all workers are new/);
    running.process.kill('SIGTERM');
    assert.doesNotMatch((await running.ended).stderr, /once more after this time/);
  });

  test('SIGTERM in the middle of a restart ends all, and nothing goes on with that', async (context) => {
    const world = await openWorkers(context, { count: 2 });
    const before = world.workers();
    world.running.process.kill('SIGHUP');
    const fresh = await eventually('a new one listens to signals', () => {
      const found = world.workers().find((pid) => !before.includes(pid));
      return found !== undefined && heedsHangup(found) && found;
    });
    world.running.process.kill('SIGTERM');
    const { code, stderr } = await world.running.ended;
    assert.equal(code, 0, stderr);
    assert.doesNotMatch(stderr, /the restart stopped|all workers are new|could not be started|unexpectedly/);
    await eventually('none is left', () => [...before, fresh].every((pid) => !isAlive(pid)));
  });

  test('a wrong configuration stops a restart, a right one is read anew', async (context) => {
    const world = await openWorkers(context, { count: 2, yaml: 'logLevel: info\n' });
    const before = world.workers();
    world.configure('allowedHosts: 3\n');
    world.running.process.kill('SIGHUP');
    await world.running.said(/the restart stopped, the other workers go on serving: sluice\.yaml:\d+: allowedHosts/);
    assert.deepEqual(world.workers(), before);
    assert.equal((await ask(world.origin, '/health')).status, 200);
    world.configure('allowedOrigins: ["https://chat.example.org"]\n');
    world.running.process.kill('SIGHUP');
    await eventually('the old ones are gone', () => before.every((pid) => !isAlive(pid)));
    for (let at = 0; at < 4; at += 1) {
      const { status } = await ask(world.origin, '/health', undefined, {
        headers: { origin: 'https://chat.example.org' },
      });
      assert.equal(status, 200);
    }
  });

  test('a configuration file that is empty or gone stops a restart, and takes no key away', async (context) => {
    const world = await openWorkers(context, { count: 2, yaml: 'key: the-access-key\n' });
    const before = world.workers();
    const file = path.join(world.folder, 'sluice.yaml');
    for (const [change, state] of [
      [() => writeFileSync(file, ''), 'empty'],
      [() => rmSync(file), 'gone'],
    ] as const) {
      change();
      world.running.process.kill('SIGHUP');
      await world.running.said(
        new RegExp(`the restart stopped.*: the configuration file [^ ]*sluice\\.yaml is ${state}`),
      );
      assert.deepEqual(world.workers(), before);
      assert.equal((await ask(world.origin, '/v1/models')).status, 401);
    }
    world.configure('key: the-access-key\nallowedOrigins: ["https://chat.example.org"]\n');
    world.running.process.kill('SIGHUP');
    await world.running.said(/all workers are new/);
    const headers = { authorization: 'Bearer the-access-key', origin: 'https://chat.example.org' };
    // The last of the old ones hears of it a moment after it is said, and still knows nothing of that origin.
    await eventually('the new origin is allowed', async () => {
      const { status, text } = await ask(world.origin, '/v1/models', undefined, { headers });
      return status === 200 && text.includes('mock');
    });
  });

  test('a folder for their sockets that cannot be used is told, with what to do', async (context) => {
    const folder = temporaryFolder(context);
    const long = path.join(folder, 'long'.repeat(25));
    mkdirSync(long);
    for (const [temporary, words] of [
      [
        path.join(folder, 'missing'),
        /^sluice: no folder for the sockets of the workers in .*missing \(ENOENT\); set TMPDIR to/,
      ],
      [long, /^sluice: .* is too long for the sockets of the workers; set TMPDIR to a shorter one\n$/],
    ] as const) {
      const options = { folder, environment: { TMPDIR: temporary } };
      const { code, stderr } = await runSluice(context, ['--bind', '127.0.0.1:0', '--workers', '2'], options);
      assert.deepEqual([code, readdirSync(long)], [1, []]);
      assert.match(stderr, words);
    }
  });

  test('SIGTERM before the first one serves ends all in order, and leaves nothing', async (context) => {
    const { running, first, left } = await starting(context);
    running.process.kill('SIGTERM');
    const { code, stderr } = await running.ended;
    assert.deepEqual([code, stderr.trim().split('\n').length], [0, 1], stderr);
    assert.ok(!isAlive(first));
    assert.deepEqual(left(), []);
  });

  test('so does one in the very moment in which that is started', async (context) => {
    const folder = temporaryFolder(context);
    const words = `import cluster from 'node:cluster';
const { fork } = cluster;
cluster.fork = (...all) => {
  const worker = fork.apply(cluster, all);
  process.kill(process.pid, 'SIGTERM');
  return worker;
};`;
    const environment = { TMPDIR: folder, NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(words)}` };
    const running = startSluice(context, ['--bind', '127.0.0.1:0', '--workers', '2'], { folder, environment });
    const { code, signal, stderr } = await running.ended;
    assert.deepEqual([code, signal], [0, null], stderr);
    assert.deepEqual(
      readdirSync(folder).filter((name) => name.startsWith('sluice-')),
      [],
    );
  });

  for (const [when, loaded] of [
    ['is being loaded', () => true],
    ['is about to listen', (left: readonly string[]) => left.length > 1],
  ] as const) {
    test(`kill -9 of the primary while the first one ${when} ends that at once, without a stack`, async (context) => {
      const { running, first, left } = await starting(context);
      await eventually(`it ${when}`, () => loaded(left()));
      running.process.kill('SIGKILL');
      // Its output ends with the last one that holds it.
      const { stderr } = await running.ended;
      assert.doesNotMatch(stderr, /\bat |EPIPE/);
      await eventually('it has ended', () => !isAlive(first));
      assert.deepEqual(left(), []);
    });
  }

  test('SIGTERM drains the streams of all, code 0; a second one ends at once', async (context) => {
    const world = await openWorkers(context);
    const held = await Promise.all(Array.from({ length: 6 }, () => stream(world.origin)));
    world.running.process.kill('SIGTERM');
    await world.running.said(/stopping; a second signal stops at once/);
    await eventually('nothing new begins', () =>
      Promise.race([
        stream(world.origin).then(
          ({ status }) => status === 503,
          () => true,
        ),
        // On its way while the last worker closed: docs/workers.md.
        sleep(2_000, false),
      ]),
    );
    for (const response of [...world.open]) response.end(END);
    for (const { whole } of held) assert.match(await whole, /\[DONE\]/);
    const { code, stderr } = await world.running.ended;
    assert.equal(code, 0, stderr);

    const other = await openWorkers(context, { count: 2 });
    const workers = other.workers();
    await Promise.all(Array.from({ length: 6 }, () => stream(other.origin)));
    other.running.process.kill('SIGTERM');
    await other.running.said(/stopping/);
    await sleep(400);
    other.running.process.kill('SIGTERM');
    assert.equal((await other.running.ended).code, 143);
    await eventually('no worker is left', () => workers.every((pid) => !isAlive(pid)));
  });

  test('workers do not outlive a primary that was killed, and finish what they answer', async (context) => {
    const world = await openWorkers(context, { count: 2 });
    const workers = world.workers();
    const held = await Promise.all(Array.from({ length: 6 }, () => stream(world.origin)));
    context.after(() => {
      for (const pid of workers) if (isAlive(pid)) process.kill(pid, 'SIGKILL');
    });
    process.kill(world.primary, 'SIGKILL');
    await eventually('the primary is gone', () => !isAlive(world.primary));
    for (const response of [...world.open]) response.end(END);
    for (const { whole } of held) assert.match(await whole, /\[DONE\]/);
    await eventually('no worker is left', () => workers.every((pid) => !isAlive(pid)));
  });

  test('kill -9 of workers under writes: what was acknowledged is there, and the port goes on', async (context) => {
    const world = await openWorkers(context);
    const written: number[] = [];
    let isOver = false;
    context.after(() => {
      isOver = true;
    });
    const writers = [0, 1, 2, 3].map(async (lane) => {
      for (let at = lane; !isOver; at += 4) {
        const id = `/backend-api/v2/chat/chat-${at}`;
        const answer = await ask(world.origin, id, { id: `chat-${at}`, n: at }).catch(() => undefined);
        if (answer?.status === 200) written.push(at);
      }
    });
    for (let round = 0; round < 3; round += 1) {
      await eventually('there are writes', () => written.length > 15 * (round + 1));
      const [victim = 0] = world.workers();
      process.kill(victim, 'SIGKILL');
      await world.running.said(new RegExp(`(?:a worker serves[^]*){${4 + round}}`));
    }
    const { length } = written;
    await eventually('there are more', () => written.length > length + 15);
    isOver = true;
    await Promise.all(writers);
    for (const at of written) {
      const { status, text } = await ask(world.origin, `/backend-api/v2/chat/chat-${at}`);
      assert.equal(status, 200, text);
    }
    await world.running.said(/a worker ended unexpectedly/);
  });

  test('kill -9 of all at once: the new ones listen where the old ones did', async (context) => {
    const world = await openWorkers(context, { count: 2 });
    for (const pid of world.workers()) process.kill(pid, 'SIGKILL');
    await eventually('it answers', async () => {
      const answer = await ask(world.origin, '/health').catch(() => undefined);
      return answer?.status === 200;
    });
  });

  test('the folder of their sockets may be cleaned away: later ones make it anew', async (context) => {
    const world = await openWorkers(context, { count: 2 });
    for (const name of readdirSync(world.folder)) {
      if (name.startsWith('sluice-')) rmSync(path.join(world.folder, name), { recursive: true });
    }
    world.running.process.kill('SIGHUP');
    await world.running.said(/all workers are new/);
    assert.equal((await ask(world.origin, '/health')).status, 200);
  });

  test('one that hangs keeps neither a restart nor a changed configuration from the others', async (context) => {
    const world = await openWorkers(context, { count: 2 });
    const stuck = world.workers()[0] ?? assert.fail('it runs');
    context.after(() => tryToWake(stuck));
    // Both hold places, which are asked for when the limits may have changed.
    for (let at = 0; at < 4; at += 1)
      assert.equal((await ask(world.origin, '/v1/chat/completions', QUESTION)).status, 200);
    process.kill(stuck, 'SIGSTOP');
    world.configure('limits: { streams: 100 }\n');
    await world.running.said(/the configuration has changed: limits/);
    world.running.process.kill('SIGHUP');
    await world.running.said(/all workers are new/);
  });
});

function tryToWake(pid: number): void {
  if (isAlive(pid)) process.kill(pid, 'SIGCONT');
}
