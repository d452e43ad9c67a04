import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { type Gateway, startGateway } from '../support/gateway.ts';
import { type Expected, type Fault, type FaultName, faultList, faults } from '../support/openai-faults.ts';
import { type OpenAiUpstream, startOpenAiUpstream } from '../support/openai-upstream.ts';
import { WAYS, type Way } from '../support/ways.ts';
import { ask, type Received, readError, type Said } from '../support/wire-answers.ts';

// Every fault of the catalogue in every way of asking, with all that the wire formats promise: not only the text, but
// also that each chunk is complete, that there is one end, and that a failure never looks like one.

const ways: Readonly<Record<string, Way>> = {
  ...WAYS,
  'dialect A, plain text': {
    ask: (origin, body) => ask(origin, `/backend-api/v2/create?${new URLSearchParams({ ...body, prompt: 'Hi' })}`),
    read: readPlain,
  },
};
const chatWith = (model: string) => ({ provider: 'mock', model });

/** Half a gigabyte takes seconds to unpack: measured once, with its memory, in faults-memory.test.ts. */
const ELSEWHERE: ReadonlySet<FaultName> = new Set(['fault-gzip-bomb']);
/** Where what the upstream does on the second request of a connection is the fault. */
const ON_REUSE: ReadonlySet<FaultName> = new Set(['fault-closes-idle', 'fault-resets-reused']);

// Most of the time is spent on waiting for what does not come, so some wait at the same time.
describe('faults of an upstream, byte by byte', { concurrency: 6 }, () => {
  let upstream: OpenAiUpstream;
  let patient: Gateway;
  let hasty: Gateway;
  let calm: Gateway;

  before(async () => {
    upstream = await startOpenAiUpstream();
    const yaml = (limits: string): string =>
      `providers: { mock: { kind: openai, baseUrl: '${upstream.baseUrl}', apiKey: sk-mock-0123 } }\nlimits: ${limits}`;
    // Attempts are a matter of their own; here they would only cost time.
    patient = await startGateway(yaml('{ retryWaitMs: 1000 }'));
    hasty = await startGateway(yaml('{ firstByteMs: 300, idleMs: 300, totalMs: 1500 }'));
    // What comes before a silence must be there in time, however busy the machine is.
    calm = await startGateway(yaml('{ firstByteMs: 20000, idleMs: 1500, totalMs: 25000 }'));
  });
  after(async () => {
    await patient.close();
    await hasty.close();
    await calm.close();
    assert.ok(
      upstream.requests.every((request) => request.path !== '/stolen'),
      'a redirect is never followed',
    );
    await eventually('nothing stays open upstream', () => upstream.open === 0);
    await upstream.close();
  });

  for (const [name, fault] of faultList as readonly (readonly [FaultName, Fault])[]) {
    if (ELSEWHERE.has(name) || ON_REUSE.has(name)) continue;
    test(name, { timeout: 60_000 }, async (context) => {
      for (const [title, way] of Object.entries(ways)) {
        if (fault.stream === false && way.isWhole !== true) continue;
        await context.test(title, async () => {
          const before = asked(name);
          const { origin } = fault.silent !== true ? patient : fault.expected.kind === 'cut' ? calm : hasty;
          check(way, await way.ask(origin, chatWith(name)), fault.expected);
          const requests = asked(name) - before;
          assert.ok(requests <= 3, `${requests} attempts`);
          const isSeen = fault.expected.kind === 'text' || (fault.expected.kind === 'cut' && way.isWhole !== true);
          if (isSeen) assert.equal(requests, 1, 'asked once');
        });
      }
    });
  }

  function asked(name: FaultName): number {
    return upstream.chats.filter((request) => request.model === name).length;
  }
});

// One after the other, so that requests can be counted.
describe('faults of an upstream, across requests', () => {
  let upstream: OpenAiUpstream;
  let gateway: Gateway;

  before(async () => {
    upstream = await startOpenAiUpstream();
    gateway = await startGateway(
      `providers: { mock: { kind: openai, baseUrl: '${upstream.baseUrl}' } }\nlimits: { retryWaitMs: 1000 }`,
    );
  });
  after(async () => {
    await gateway.close();
    await upstream.close();
  });

  test('what no further attempt can mend gets none', async () => {
    for (const name of ['fault-400', 'fault-401', 'fault-rate-limited'] as const) {
      for (const [title, way] of Object.entries(ways)) {
        const before = upstream.chats.length;
        check(way, await way.ask(gateway.origin, chatWith(name)), faults[name].expected);
        assert.equal(upstream.chats.length - before, 1, `${name}: ${title}`);
      }
    }
  });

  test('a rate limit reaches the client with its time, in every way of asking', async () => {
    for (const [title, way] of Object.entries(ways)) {
      const { headers } = await way.ask(gateway.origin, chatWith('fault-rate-limited'));
      assert.equal(headers['retry-after'], '30', title);
    }
  });

  test('failing neighbours do not disturb', { timeout: 60_000 }, async () => {
    const bad: FaultName[] = ['fault-reset', 'fault-reset-early', 'fault-error-event', 'fault-not-http', 'fault-503'];
    const way = ways['dialect B, streamed'] ?? assert.fail();
    const answers = await Promise.all(
      Array.from({ length: 50 }, async (_, index) => {
        const [good] = await Promise.all([
          way.ask(gateway.origin, chatWith('fault-seven-bytes')),
          way.ask(gateway.origin, chatWith(bad[index % bad.length] ?? '')),
        ]);
        return good;
      }),
    );
    for (const answer of answers) check(way, answer, faults['fault-seven-bytes'].expected);
  });
});

for (const name of ON_REUSE) {
  // By itself, so that there is one connection to be used again and not several.
  test(`${name}: one request after the other`, { timeout: 60_000 }, async (context) => {
    const upstream = await startOpenAiUpstream();
    const gateway = await startGateway(`providers: { mock: { kind: openai, baseUrl: '${upstream.baseUrl}' } }`);
    context.after(async () => {
      await gateway.close();
      await upstream.close();
    });
    const rounds = 3;
    for (const way of Object.values(ways)) {
      for (let round = 0; round < rounds; round += 1) {
        const before = upstream.chats.length;
        check(way, await way.ask(gateway.origin, chatWith(name)), faults[name].expected);
        const requests = upstream.chats.length - before;
        assert.ok(requests <= 3, `${requests} attempts`);
      }
    }
    const answers = rounds * Object.keys(ways).length;
    assert.ok(upstream.chats.length <= 2 * answers, `${upstream.chats.length} requests for ${answers} answers`);
  });
}

function check(way: Way, received: Received, expected: Expected): void {
  if (expected.kind === 'text') {
    const said = way.read(received);
    assert.equal(said.error, undefined);
    assert.equal(said.text, expected.text);
    assert.equal(said.finish, 'stop');
  } else if (expected.kind === 'cut' && way.isWhole !== true) {
    const said = way.read(received);
    assert.equal(said.text, expected.text);
    assert.ok(said.error, 'the failure is visible');
    assert.equal(said.finish, undefined);
  } else if (expected.kind === 'cut') {
    const error = readError(received);
    assert.ok([500, 502, 504].includes(received.status), `status ${received.status}: ${error['message']}`);
  } else if (expected.status.includes(401) && received.status === 200) {
    // Missing credentials are a chunk in dialect A, which its front ends act upon.
    const said = way.read(received);
    assert.equal(said.error?.['type'], 'auth');
  } else {
    const error = readError(received);
    assert.ok(expected.status.includes(received.status), `status ${received.status}: ${error['message']}`);
  }
}

/** Plain text has no place for an error: that the connection is cut is the only sign. */
function readPlain(received: Received): Said {
  assert.equal(received.status, 200);
  assert.match(received.headers['content-type'] ?? '', /^text\/plain; charset=utf-8/);
  const nothing = { reasoning: '', toolCalls: [], usage: undefined };
  return received.complete
    ? { ...nothing, text: received.body, finish: 'stop', error: undefined }
    : { ...nothing, text: received.body, finish: undefined, error: { message: 'cut' } };
}
