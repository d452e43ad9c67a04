import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { networkInterfaces } from 'node:os';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { defaultLimits } from '../../src/config/defaults.ts';
import { text, zip } from '../fixtures/documents/hostile.ts';
import { loadYaml } from '../support/config-folder.ts';
import { eventually } from '../support/eventually.ts';
import { startGateway } from '../support/gateway.ts';
import { type OpenAiOptions, startOpenAiUpstream } from '../support/openai-upstream.ts';
import { picture } from '../support/pictures.ts';
import { begin, readError, receive } from '../support/wire-answers.ts';
import { CHATS, HI, openWorld } from './edge-world.ts';
import { startGatewayBefore } from './gateway-before.ts';
import { at, converse, form, postJson, statusOf, told, upload } from './kept-world.ts';

const MB = 1_024 * 1_024;

/** All programs on this machine share one address, which counts for nobody; this one counts. */
const address = Object.values(networkInterfaces())
  .flatMap((each) => each ?? [])
  .find(({ family, internal }) => family === 'IPv4' && !internal)?.address;

describe('answers at the same time', { timeout: 60_000 }, () => {
  for (const { dialect, path: route } of CHATS) {
    test(`${dialect}: one client gets its share of the places, and all together those that there are`, {
      skip: address === undefined,
    }, async (context) => {
      const upstream = await startOpenAiUpstream(() => ({ text: ['a', 'b'], stallAfter: 1 }));
      const gateway = await startGateway(
        `bind: 0.0.0.0:0\nkey: none\nproviders: { mock: { kind: openai, baseUrl: '${upstream.baseUrl}' } }
limits: { streams: 5, streamsPerClient: 2 }`,
      );
      const { port } = new URL(gateway.origin);
      const running: ReturnType<typeof begin>[] = [];
      context.after(async () => {
        for (const client of running) client.leave();
        await gateway.close();
        await upstream.close();
      });
      const asked = async (host: string) => {
        const client = begin(`http://${host}:${port}`, route, { ...HI, provider: 'mock', stream: true });
        const response = await client.response;
        if (response.statusCode === 200) running.push(client);
        return response;
      };
      const refusedTo = async (host: string): Promise<unknown[]> => {
        const response = await asked(host);
        assert.notEqual(response.statusCode, 200);
        const refused = await receive(response);
        return [refused.status, readError(refused)['code'], refused.headers['retry-after']];
      };
      for (let count = 0; count < 2; count += 1) assert.equal((await asked(String(address))).statusCode, 200);
      assert.deepEqual(await refusedTo(String(address)), [429, 'rate_limited', '1']);
      for (let count = 0; count < 3; count += 1) assert.equal((await asked('127.0.0.1')).statusCode, 200);
      assert.deepEqual(await refusedTo('127.0.0.1'), [503, 'overloaded', '1']);
      running.shift()?.leave();
      await eventually('it has left upstream', () => upstream.open === 4);
      assert.equal((await asked(String(address))).statusCode, 200, 'the place of a client that left is free');
    });
  }
});

describe('messages of one request', { timeout: 60_000 }, () => {
  const said = (count: number, message: object): object[] => Array.from({ length: count }, () => message);
  const user = { role: 'user', content: 'Hi' };
  const model = 'mock/test-model';
  /** Every format, by its path: a body with so many messages. */
  const FORMATS: Readonly<Record<string, (count: number) => object>> = {
    '/backend-api/v2/conversation': (count) => ({ model, messages: said(count, user) }),
    '/v1/chat/completions': (count) => ({ model, messages: said(count, user) }),
    '/v1/responses': (count) => ({ model, input: said(count, user) }),
    '/v1/messages': (count) => ({ model, max_tokens: 10, messages: said(count, user) }),
    '/v1beta/models/mock%2Ftest-model:generateContent': (count) => ({
      contents: said(count, { role: 'user', parts: [{ text: 'Hi' }] }),
    }),
    '/api/chat': (count) => ({ model, stream: false, messages: said(count, user) }),
  };

  test('are as many as the limit says, less or more than by default', async () => {
    for (const most of [3, 10_100]) {
      await using world = await openWorld({ yaml: `limits: { messages: ${most} }` });
      for (const [route, bodyOf] of Object.entries(FORMATS)) {
        const good = await world.ask({ path: route, body: bodyOf(most) });
        assert.equal(good.status, 200, `${route}: ${good.text.slice(0, 300)}`);
        const asked = world.upstream.chats.length;
        const refused = await world.ask({ path: route, body: bodyOf(most + 1) });
        assert.ok([400, 422].includes(refused.status), `${route}: ${refused.status}`);
        assert.match(refused.text, new RegExp(`must have at most ${most} items`), route);
        assert.equal(world.upstream.chats.length, asked);
      }
    }
  });
});

/** A gateway with the default limits, and a way to set others while it runs, as a change of its file does. */
async function openChanging(
  context: { after(done: () => Promise<void>): void },
  handle: OpenAiOptions['handle'] = () => false,
  answer: (origin: string) => string = () => '',
) {
  const upstream = await startOpenAiUpstream(() => ({ raw: answer(upstream.origin) }), { handle });
  const yaml = `providers: { acme: { kind: openai, baseUrl: '${upstream.baseUrl}', models: [test-model] } }\n`;
  const { gateway, close } = await startGatewayBefore([upstream], yaml);
  context.after(close);
  return {
    origin: gateway.origin,
    async limit(limits: string): Promise<void> {
      const more = `dataDir: data\nembedded: { enabled: false }\nlimits: ${limits}\n`;
      await gateway.app.apply(await loadYaml(gateway.folder, yaml + more));
    },
  };
}

describe('limits that change while the gateway runs', { timeout: 60_000 }, () => {
  test('shared chats', async (context) => {
    const world = await openChanging(context);
    const share = async (id: string) => {
      const { status, message } = await told(postJson(at(world, `chat/${id}`), { text: 'x'.repeat(2_000) }));
      return [status, message];
    };
    assert.deepEqual(await share('one'), [200, '']);
    await world.limit('{ sharedChatBytes: 2000 }');
    assert.deepEqual(await share('two'), [413, 'The body is larger than 2000 bytes.']);
    await world.limit('{ sharedChatBytes: 3000, bodyBytes: 1000 }');
    assert.deepEqual(await share('three'), [200, '']);
  });

  test('files of cookies', async (context) => {
    const world = await openChanging(context);
    const send = async () => {
      const content = JSON.stringify([{ domain: '127.0.0.1', name: 'a', value: 'x'.repeat(2_000) }]);
      const data = new FormData();
      data.append('file', new File([content], 'cookies.json'));
      const { status, message } = await told(fetch(at(world, 'upload_cookies'), { method: 'POST', body: data }));
      return [status, message];
    };
    assert.equal((await send())[0], 200);
    await world.limit('{ cookieFileBytes: 2000 }');
    assert.deepEqual(await send(), [413, 'The file is larger than 2000 bytes.']);
    await world.limit('{ cookieFileBytes: 3000, uploadFileBytes: 1000 }');
    assert.equal((await send())[0], 200);
  });

  test('what is unpacked', async (context) => {
    const world = await openChanging(context);
    // 3 MB, well packed, but no bomb.
    const line = `${randomBytes(14_000).toString('hex')}\n`;
    const archive = zip([text('a.txt', line.repeat(110)), text('b.txt', 'b')]);
    const whole = ['a.zip', archive] as const;
    assert.deepEqual((await upload(world, 'default', whole)).rejected, []);
    for (const [limits, reason] of [
      ['{ unpackedBytes: 2097152 }', 'unpacks to more than 2 MB'],
      ['{ unpackedBytes: 2000 }', 'unpacks to more than 2000 bytes'],
      ['{ unpackedEntries: 1 }', 'holds 2 files; at most 1 are unpacked'],
      ['{ unpackedRatio: 2 }', 'unpacks to more than 2 times its size'],
    ] as const) {
      await world.limit(limits);
      const body = form([whole]);
      const alone = await told(fetch(at(world, 'files/limited'), { method: 'POST', body }));
      assert.deepEqual([alone.status, alone.message], [422, `Nothing was taken in: a.zip ${reason}.`], limits);
      assert.equal(await statusOf(at(world, 'files/limited')), 404, 'there is no bucket of nothing');
      const { rejected } = await upload(world, 'beside', whole, ['fine.txt', 'fine']);
      assert.deepEqual(rejected, [{ name: 'a.zip', reason }], limits);
      const one = new FormData();
      one.append('file', new File([new Uint8Array(archive)], 'a.zip'));
      const { status, message } = await told(fetch(`${world.origin}/api/markitdown`, { method: 'POST', body: one }));
      assert.equal(status, 422);
      assert.ok(message.includes(reason), message);
    }
  });

  test('what is fetched from the addresses in an answer', async (context) => {
    const bytes = await picture('#207090', 30, 20);
    let wanted = '/hop/3';
    const world = await openChanging(
      context,
      async ({ path: asked }, response) => {
        const [, hops] = /^\/hop\/(\d)$/.exec(asked) ?? [];
        if (asked === '/slow') await sleep(1_000);
        else if (hops === undefined) return false;
        if (hops === undefined || hops === '0') response.writeHead(200, { 'content-type': 'image/png' }).end(bytes);
        else response.writeHead(302, { location: `/hop/${Number(hops) - 1}` }).end();
        return true;
      },
      (origin) => {
        const image = { type: 'image_url', image_url: { url: origin + wanted } };
        const said = [{ delta: { images: [image] } }, { delta: {}, finish_reason: 'stop' }];
        const events = said.map((choice) => `data: ${JSON.stringify({ choices: [{ index: 0, ...choice }] })}\n\n`);
        return `${events.join('')}data: [DONE]\n\n`;
      },
    );
    /** Where the picture is in the end, and why not here. */
    const draw = async (from: string) => {
      wanted = from;
      const events = await converse(world, { model: 'test-model' });
      assert.equal(events.at(-1)?.type, 'finish');
      const kept = events.find((event) => event.type === 'content' && event['urls'] !== undefined);
      return { url: String(kept?.['urls']), log: String(events.find(({ type }) => type === 'log')?.['log']) };
    };
    for (const from of ['/hop/3', '/slow']) assert.match((await draw(from)).url, /^\/media\//, from);
    for (const [limits, from, reason] of [
      [`{ fetchBytes: ${bytes.length - 1} }`, '/hop/0', `is larger than ${bytes.length - 1} bytes`],
      ['{ fetchMs: 300 }', '/slow', 'did not arrive within 300 ms'],
      ['{ fetchRedirects: 2 }', '/hop/3', 'redirects; no more than 2 are followed'],
      ['{ fetchRedirects: 0 }', '/hop/1', 'redirects; no more than 0 are followed'],
    ] as const) {
      await world.limit(limits);
      const { url, log } = await draw(from);
      assert.match(url, new RegExp(`^http://127\\.0\\.0\\.1:\\d+${from}$`), limits);
      assert.ok(log.includes(reason), log);
    }
    await world.limit('{ fetchRedirects: 4 }');
    assert.match((await draw('/hop/4')).url, /^\/media\//, 'more than by default');
  });
});

test('the default limits are those that docs/hardening.md promises', () => {
  const { headerBytes, urlBytes, chatBodyBytes, bodyBytes, jsonDepth, messages, attempts, retryWaitMs } = defaultLimits;
  const { sharedChatBytes, cookieFileBytes } = defaultLimits;
  assert.deepEqual([sharedChatBytes, cookieFileBytes], [5 * MB, 5 * MB]);
  assert.deepEqual([headerBytes, urlBytes], [16 * 1_024, 8 * 1_024]);
  assert.deepEqual([chatBodyBytes, bodyBytes, jsonDepth, messages], [10 * MB, MB, 100, 10_000]);
  const { uploadFileBytes, uploadRequestBytes, uploadBucketBytes, uploadParts, uploadNameBytes } = defaultLimits;
  assert.deepEqual([uploadFileBytes, uploadRequestBytes, uploadBucketBytes], [64 * MB, 256 * MB, 512 * MB]);
  assert.deepEqual([uploadParts, uploadNameBytes], [100, 255]);
  const { sseLineBytes, answerBytes, inflateBytes, connectMs, firstByteMs, idleMs } = defaultLimits;
  assert.deepEqual([sseLineBytes, answerBytes, inflateBytes], [8 * MB, 32 * MB, 32 * MB]);
  assert.deepEqual([connectMs, firstByteMs, idleMs], [10_000, 120_000, 60_000]);
  const { clientHeaderMs, clientBodyIdleMs, keepAliveMs, upstreamKeepAliveMs, drainMs } = defaultLimits;
  assert.deepEqual(
    [clientHeaderMs, clientBodyIdleMs, keepAliveMs, upstreamKeepAliveMs],
    [20_000, 30_000, 65_000, 30_000],
  );
  const { streams, streamsPerClient } = defaultLimits;
  assert.deepEqual([attempts, retryWaitMs, streams, streamsPerClient, drainMs], [3, 10_000, 5_000, 200, 30_000]);
  const { unpackedBytes, unpackedEntries, unpackedRatio } = defaultLimits;
  assert.deepEqual([unpackedBytes, unpackedEntries, unpackedRatio], [100 * MB, 1_000, 100]);
  const { fetchBytes, fetchMs, fetchRedirects } = defaultLimits;
  assert.deepEqual([fetchBytes, fetchMs, fetchRedirects], [64 * MB, 30_000, 3]);
});
