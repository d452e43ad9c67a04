import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type OtelConfig, resolveObserve } from '../../src/observe/config.ts';
import { startAnthropicUpstream } from '../support/anthropic-upstream.ts';
import { eventually } from '../support/eventually.ts';
import { startGeminiUpstream } from '../support/gemini-upstream.ts';
import { type OtlpCollector, objectOf, type SeenSpan, startOtlpCollector } from '../support/otlp-collector.ts';
import { unusedPort } from '../support/plain-server.ts';
import { startResponsesUpstream } from '../support/responses-upstream.ts';
import type { VendorUpstream } from '../support/vendor-server.ts';
import { chat, entryOf, type ObservedWorld, openObserved } from './observe-world.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PARENT = 'b7ad6b7169203331';
const SERVER = 2;
const CLIENT = 3;

function otelTo({ endpoint }: OtlpCollector, more: Readonly<Record<string, string>> = {}): OtelConfig {
  const { config, notes } = resolveObserve({
    OTEL_EXPORTER_OTLP_ENDPOINT: `${endpoint}/`,
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20planted-collector-key',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment=test',
    OTEL_BSP_SCHEDULE_DELAY: '20',
    OTEL_METRIC_EXPORT_INTERVAL: '50',
    // Nothing here is to be sent again because the machine is busy.
    OTEL_EXPORTER_OTLP_TIMEOUT: '30000',
    ...more,
  });
  assert.deepEqual(notes, []);
  if (config.otel === undefined) throw new Error('nothing is sent');
  return config.otel;
}

const spansOf = (collector: OtlpCollector, id: string): Promise<readonly SeenSpan[]> =>
  eventually(`spans of ${id}`, () => {
    const root = collector.spans.find(({ of }) => of['sluice.request.id'] === id);
    return root && collector.spans.filter(({ traceId }) => traceId === root.traceId);
  });

describe('OpenTelemetry', { timeout: 60_000 }, () => {
  let collector: OtlpCollector;
  let world: ObservedWorld;
  let vendors: readonly VendorUpstream[];
  before(async () => {
    collector = await startOtlpCollector();
    vendors = await Promise.all(
      [startAnthropicUpstream, startGeminiUpstream, startResponsesUpstream].map((start) =>
        start(() => ({ text: ['Hello'] })),
      ),
    );
    const [claude, gemini, gpt] = vendors.map(({ baseUrl }) => baseUrl);
    const yaml = [
      `  claude: { kind: anthropic, baseUrl: '${claude}', apiKey: a-key }`,
      `  gemini: { kind: google, baseUrl: '${gemini}', apiKey: a-key }`,
      `  gpt: { kind: openai-responses, baseUrl: '${gpt}', apiKey: a-key, hostedTools: true }`,
    ].join('\n');
    world = await openObserved({ otel: otelTo(collector) }, yaml);
  });
  after(async () => {
    await world.close();
    await collector.close();
    for (const vendor of vendors) await vendor.close();
  });

  /** The id of a request that was answered. */
  async function ask(path: string, body: object): Promise<string> {
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(world.origin + path, { method: 'POST', headers, body: JSON.stringify(body) });
    await response.arrayBuffer();
    return response.headers.get('x-request-id') ?? '';
  }

  test('a request is a span, and so is the call of the model', async () => {
    const { id } = await chat(world, { model: 'openai/gpt-4o', stream: true });
    const [request, call, ...others] = await spansOf(collector, id);
    assert.equal(others.length, 0);
    assert.deepEqual(
      [request?.name, request?.kind, request?.parentSpanId],
      ['POST /v1/chat/completions', SERVER, undefined],
    );
    assert.equal(request?.of['http.response.status_code'], 200);
    assert.deepEqual([request?.of['url.path'], request?.of['url.scheme']], ['/v1/chat/completions', 'http']);
    assert.equal(request?.of['sluice.cost_usd'], 0.0035);
    assert.deepEqual([call?.name, call?.kind, call?.parentSpanId], ['chat gpt-4o', CLIENT, request?.spanId]);
    assert.deepEqual(call?.of, {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': 'gpt-4o',
      'gen_ai.request.stream': true,
      'server.address': '127.0.0.1',
      'server.port': Number(new URL(world.openai.origin).port),
      'gen_ai.response.id': 'chatcmpl-scripted',
      'gen_ai.response.model': 'gpt-4o',
      'gen_ai.response.time_to_first_chunk': call?.of['gen_ai.response.time_to_first_chunk'],
      'gen_ai.response.finish_reasons': ['stop'],
      'gen_ai.usage.input_tokens': 1_000,
      'gen_ai.usage.output_tokens': 100,
      'gen_ai.usage.cache_read.input_tokens': 0,
      'gen_ai.usage.reasoning.output_tokens': 0,
    });
    assert.ok(Number(call?.of['gen_ai.response.time_to_first_chunk']) > 0);
    assert.match(`${request?.traceId} ${request?.spanId} ${call?.spanId}`, /^[0-9a-f]{32} [0-9a-f]{16} [0-9a-f]{16}$/);
    const [start, begun, end] = [request?.startTimeUnixNano, call?.startTimeUnixNano, call?.endTimeUnixNano].map(
      Number,
    );
    assert.ok(Number(start) <= Number(begun) && Number(begun) < Number(end));
    assert.ok(Math.abs(Number(start) / 1e6 - Date.now()) < 60_000);
  });

  test('the call says why its answer ended, whichever way that came', async () => {
    const call = { id: 'call_1', name: 'look', arguments: ['{"at": "\\"finish_reason\\": \\"planted\\""}'] };
    const script = { text: ['"finish_reason": "planted"'], toolCalls: [call] };
    for (const [fields, expected] of [
      [{}, ['tool_calls']],
      [{ stream: true }, ['tool_calls']],
      // What is not relayed is decoded.
      [{ download_media: true }, ['tool_calls']],
      [{ download_media: true, stream: true }, ['tool_calls']],
    ] as const) {
      world.answers(script);
      const { id } = await chat(world, fields);
      const [, asked] = await spansOf(collector, id);
      assert.deepEqual(asked?.of['gen_ai.response.finish_reasons'], expected, JSON.stringify(fields));
    }
    world.answers({ text: ['Hi'], finish: 'length' });
    // The second one is like the first, and recognized without being parsed.
    for (const fields of [{}, {}, { n: 2, download_media: true }]) {
      const { id } = await chat(world, fields);
      const [, asked] = await spansOf(collector, id);
      const expected = Array.from({ length: 'n' in fields ? 2 : 1 }, () => 'length');
      assert.deepEqual(asked?.of['gen_ai.response.finish_reasons'], expected);
    }
  });

  test('the call says how its answer was to be made, in whatever format that was said', async () => {
    const words = { temperature: 1, top_p: 0.5, frequency_penalty: 0, seed: 7, stop: ['planted'], max_tokens: 50 };
    const gemini = { temperature: 1, topP: 0.5, topK: 3, maxOutputTokens: 50, stopSequences: ['planted'] };
    const contents = [{ role: 'user', parts: [{ text: 'Hi' }] }];
    const model = 'acme/test-model';
    const messages = [{ role: 'user', content: 'Hi' }];
    const long = [{ role: 'user', content: 'planted '.repeat(10_000) }];
    for (const [path, body, expected] of [
      [
        '/v1/chat/completions',
        { model, messages, ...words },
        ['max_tokens', 'temperature', 'top_p', 'frequency_penalty', 'seed'],
      ],
      ['/v1/chat/completions', { model, messages: long, temperature: 1 }, ['temperature']],
      ['/v1/chat/completions', { model, messages, n: 2, temperature: 'hot' }, undefined],
      ['/v1/responses', { model, input: 'Hi', max_output_tokens: 50, temperature: 1 }, ['max_tokens', 'temperature']],
      ['/v1/messages', { model, messages, max_tokens: 50, top_k: 3 }, ['max_tokens', 'top_k']],
      [
        `/v1beta/models/${model}:generateContent`,
        { contents, generationConfig: gemini },
        ['max_tokens', 'temperature', 'top_p', 'top_k'],
      ],
      ['/api/chat', { model, messages, stream: false, options: { num_predict: 50, seed: 7 } }, ['max_tokens', 'seed']],
      ['/v1/chat/completions', { model, messages }, []],
    ] as const) {
      const id = await ask(path, body);
      const [request, asked] = await spansOf(collector, id);
      if (expected === undefined) {
        assert.equal(request?.of['http.response.status_code'], 422);
        continue;
      }
      const all: Readonly<Record<string, number>> = {
        max_tokens: 50,
        temperature: 1,
        top_p: 0.5,
        top_k: 3,
        frequency_penalty: 0,
        seed: 7,
      };
      const said = Object.entries(asked?.of ?? {}).filter(
        ([name]) => name.startsWith('gen_ai.request.') && name !== 'gen_ai.request.model',
      );
      assert.deepEqual(
        Object.fromEntries(said),
        Object.fromEntries(expected.map((name) => [`gen_ai.request.${name}`, all[name]])),
        path,
      );
    }
    const typed = collector.posts.flatMap(
      ({ text }) => text.match(/"gen_ai\.request\.temperature","value":\{[^}]*\}/g) ?? [],
    );
    assert.deepEqual(new Set(typed), new Set(['"gen_ai.request.temperature","value":{"doubleValue":1}']));
  });

  test('figures that the protocol has no place for are left out: a collector would refuse all that comes with them', async () => {
    const messages = '[{"role":"user","content":"Hi"}]';
    const figures = '"num_predict":1e999,"seed":18446744073709551615,"top_k":3,"options":{"temperature":1e999}';
    const headers = { 'content-type': 'application/json' };
    const body = `{"model":"acme/test-model","messages":${messages},${figures}}`;
    const response = await fetch(`${world.origin}/v1/chat/completions`, { method: 'POST', headers, body });
    await response.arrayBuffer();
    await spansOf(collector, response.headers.get('x-request-id') ?? '');
    const text = collector.posts.map((post) => post.text).join('\n');
    assert.match(text, /"gen_ai\.request\.top_k","value":\{"doubleValue":3\}/);
    assert.doesNotMatch(text, /"(?:double|int)Value":null|"gen_ai\.request\.seed","value":\{"doubleValue"/);
  });

  test('the call says what a whole answer was called, wherever that stands in it', async () => {
    const id = 'chatcmpl-last';
    const model = 'test-model-1';
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
    const choices = [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: '"id":"no"' } }];
    const rest = { object: 'chat.completion', created: 1, usage };
    try {
      for (const answer of [
        // As Azure does.
        { choices, id, model, ...rest },
        { about: { id: 'no', model: 'no' }, id, model, choices, ...rest },
      ]) {
        world.answers({ raw: JSON.stringify(answer) });
        const { id: asked } = await chat(world, {});
        const [, call] = await spansOf(collector, asked);
        assert.deepEqual([call?.of['gen_ai.response.id'], call?.of['gen_ai.response.model']], [id, model]);
      }
    } finally {
      world.answers({ text: ['Hello', ' world'] });
    }
  });

  test('a name that goes on and on is cut, whichever way the answer came', async () => {
    const name = 'n'.repeat(10_000);
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
    const choice = { index: 0, finish_reason: 'stop' };
    const said = { role: 'assistant', content: 'Hi' };
    const about = { id: name, model: name, created: 1, usage };
    const whole = { ...about, object: 'chat.completion', choices: [{ ...choice, message: said }] };
    const event = { ...about, object: 'chat.completion.chunk', choices: [{ ...choice, delta: said }] };
    try {
      for (const [raw, more] of [
        [JSON.stringify(whole), {}],
        [`data: ${JSON.stringify(event)}\n\ndata: [DONE]\n\n`, { stream: true }],
        [`data: ${JSON.stringify(event)}\n\ndata: [DONE]\n\n`, { stream: true, download_media: true }],
      ] as const) {
        world.answers({ raw });
        const [, call] = await spansOf(collector, (await chat(world, more)).id);
        const cut = name.slice(0, 256);
        assert.deepEqual(
          [call?.of['gen_ai.response.id'], call?.of['gen_ai.response.model']],
          [cut, cut],
          raw.slice(0, 5),
        );
      }
    } finally {
      world.answers({ text: ['Hello', ' world'] });
    }
  });

  test('the call says what its answer was called, whoever gave it and whichever way', async () => {
    for (const [path, model, expected] of [
      ['/v1/chat/completions', 'acme/test-model', ['chatcmpl-scripted', 'test-model']],
      ['/v1/chat/completions', 'claude/claude-haiku-4-5', ['msg_scripted', 'claude-haiku-4-5']],
      // Its library does not hand on the model's name.
      ['/v1/chat/completions', 'gemini/gemini-2.5-flash', ['resp_scripted', undefined]],
      ['/v1/chat/completions', 'gpt/gpt-5.2', [/^resp_/, 'gpt-5.2']],
      // Each before clients of its own format, too.
      ['/v1/messages', 'claude/claude-haiku-4-5', ['msg_scripted', 'claude-haiku-4-5']],
      ['/v1beta', 'gemini/gemini-2.5-flash', ['resp_scripted', 'gemini-2.5-flash']],
      ['/v1/responses', 'gpt/gpt-5.2', [/^resp_/, 'gpt-5.2']],
    ] as const) {
      for (const more of [{}, { stream: true }, { download_media: true }]) {
        if (path !== '/v1/chat/completions' && 'download_media' in more) continue;
        const id =
          path === '/v1beta'
            ? await ask(
                `/v1beta/models/${model}:${'stream' in more ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
                { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] },
              )
            : await ask(path, {
                model,
                messages: [{ role: 'user', content: 'Hi' }],
                max_tokens: 50,
                ...(path === '/v1/responses' ? { input: 'Hi', messages: undefined, max_tokens: undefined } : {}),
                ...more,
              });
        const [, asked] = await spansOf(collector, id);
        const [name, answeredBy] = expected;
        if (typeof name === 'string') assert.equal(asked?.of['gen_ai.response.id'], name, path + model);
        else assert.match(String(asked?.of['gen_ai.response.id']), name, path + model);
        assert.equal(asked?.of['gen_ai.response.model'], answeredBy, path + model);
      }
    }
  });

  test('the trace of the client goes on, and upstreams hear nothing of it', async () => {
    const headers = { traceparent: `00-${TRACE}-${PARENT}-01`, tracestate: 'vendor=1' };
    const { id } = await chat(world, {}, headers);
    const [request, call] = await spansOf(collector, id);
    assert.deepEqual([request?.traceId, request?.parentSpanId, request?.traceState], [TRACE, PARENT, 'vendor=1']);
    assert.equal(call?.traceId, TRACE);
    const { traceparent, tracestate } = world.acme.chats.at(-1)?.headers ?? {};
    assert.deepEqual([traceparent, tracestate], [undefined, undefined]);
  });

  test('what is not to be sampled is not sent, and nonsense begins a new trace', async () => {
    const silent = await chat(world, {}, { traceparent: `00-${TRACE}-${PARENT}-00` });
    for (const traceparent of ['nonsense', `00-${'0'.repeat(32)}-${PARENT}-01`, `ff-${TRACE}-${PARENT}-01`, '']) {
      const { id } = await chat(world, {}, { traceparent });
      const [request] = await spansOf(collector, id);
      assert.ok(request?.traceId !== TRACE && request?.parentSpanId === undefined, traceparent);
    }
    assert.equal(
      collector.spans.some(({ of }) => of['sluice.request.id'] === silent.id),
      false,
    );
  });

  test('failures are spans with an event, without words of anybody', async () => {
    world.answers(({ model }) =>
      model === 'test-model' ? { status: 429, errorMessage: 'planted words' } : { text: ['Hi'] },
    );
    const { id } = await chat(world, { models: ['acme/other-model'] });
    const [request, failed, answered] = await spansOf(collector, id);
    assert.deepEqual([request?.status, answered?.status, answered?.name], [undefined, undefined, 'chat other-model']);
    assert.deepEqual(failed?.status, { code: 2, message: 'rate_limited' });
    assert.equal(failed?.of['error.type'], 'rate_limited');
    const [event] = failed?.events ?? [];
    assert.equal(event?.name, 'exception');
    assert.deepEqual(objectOf((event?.attributes ?? []) as Parameters<typeof objectOf>[0]), {
      'exception.type': 'rate_limited',
    });
    world.answers({ text: ['one', 'two'], cutAfter: 1 });
    const broken = await chat(world, { stream: true });
    const [whole, cut] = await spansOf(collector, broken.id);
    assert.deepEqual([whole?.status?.code, cut?.status?.code, cut?.of['error.type']], [2, 2, 'upstream_cut']);
  });

  test('metrics by the conventions for generative AI', async () => {
    const of = { 'gen_ai.operation.name': 'chat', 'gen_ai.provider.name': 'openai', 'gen_ai.request.model': 'gpt-4o' };
    const tokens = await eventually('tokens are measured', () =>
      collector
        .points('gen_ai.client.token.usage')
        .find((point) => point.of['gen_ai.token.type'] === 'input' && point.of['gen_ai.provider.name'] === 'openai'),
    );
    assert.deepEqual(tokens.of, { ...of, 'gen_ai.token.type': 'input' });
    assert.deepEqual([tokens.count, tokens.sum], ['1', 1_000]);
    assert.equal(tokens.bucketCounts.length, tokens.explicitBounds.length + 1);
    assert.equal(tokens.bucketCounts[tokens.explicitBounds.indexOf(1_024)], '1');
    const durations = collector.points('gen_ai.client.operation.duration');
    assert.ok(durations.some((point) => point.of['error.type'] === 'rate_limited'));
    assert.ok(durations.some((point) => point.of['gen_ai.request.model'] === 'gpt-4o' && point.sum > 0));
    assert.equal(collector.points('gen_ai.client.operation.time_to_first_chunk').length > 0, true);
  });

  test('posts are JSON with the configured headers and resource', () => {
    const [post] = collector.posts;
    assert.equal(post?.headers['content-type'], 'application/json');
    assert.equal(post?.headers.authorization, 'Bearer planted-collector-key');
    const { resource } =
      JSON.parse(post?.text ?? '').resourceSpans?.[0] ?? JSON.parse(post?.text ?? '').resourceMetrics[0];
    const { 'service.version': version, ...others } = objectOf(resource.attributes);
    assert.deepEqual(others, { 'service.name': 'sluice', 'deployment.environment': 'test' });
    assert.match(String(version), /^\d/);
    assert.doesNotMatch(collector.posts.map(({ text }) => text).join(), /planted|"Hi"/);
    assert.doesNotMatch(JSON.stringify(world.log.lines), /planted/);
  });
});

describe('OpenTelemetry where the collector fails', { timeout: 60_000 }, () => {
  test('requests are answered all the same, it is told once, what waited is sent later, and that it is back', async () => {
    const collector = await startOtlpCollector();
    const world = await openObserved({ otel: otelTo(collector, { OTEL_BSP_SCHEDULE_DELAY: '200' }) });
    try {
      collector.status = 503;
      const ids: string[] = [];
      for (let n = 0; n < 3; n += 1) ids.push((await chat(world)).id);
      await eventually('both have been refused', () => collector.refused.size === 2);
      collector.status = 200;
      for (const id of ids) await spansOf(collector, id);
      await eventually('metrics arrive', () => collector.points('gen_ai.client.token.usage').length > 0);
      const told = () =>
        world.log.lines.flatMap(({ message, fields }) => (/collector/.test(message) ? [[message, fields]] : []));
      const { endpoint } = collector;
      const expected = [
        ['the OpenTelemetry collector does not take what is sent', { collector: endpoint, why: 'status 503' }],
        ['the OpenTelemetry collector takes what is sent again', { collector: endpoint }],
      ];
      await eventually('it is told that it is back', () => told().length >= expected.length);
      assert.deepEqual(told(), expected, 'once for traces and metrics together');
    } finally {
      await world.close();
      await collector.close();
    }
  });

  test('where it takes the ones and not the others, that is told once', async () => {
    const collector = await startOtlpCollector();
    const world = await openObserved({ otel: otelTo(collector) });
    try {
      collector.statusOf.set('/v1/metrics', 404);
      for (let n = 0; n < 3; n += 1) {
        await spansOf(collector, (await chat(world)).id);
        collector.refused.clear();
        await eventually('metrics are refused again', () => collector.refused.has('/v1/metrics'));
      }
      assert.deepEqual(
        world.log.lines.flatMap(({ message, fields }) => (/collector/.test(message) ? [fields] : [])),
        [{ collector: collector.endpoint, why: 'status 404' }],
      );
    } finally {
      await world.close();
      await collector.close();
    }
  });

  test('where it takes a part only, that is told once with its reason, and nothing is sent again', async () => {
    const collector = await startOtlpCollector();
    const world = await openObserved({ otel: otelTo(collector) });
    const told = () =>
      world.log.lines.flatMap(({ message, fields }) => (/collector/.test(message) ? [[message, fields]] : []));
    try {
      const errorMessage = 'spans are\nolder than an hour';
      collector.answerOf.set('/v1/traces', { partialSuccess: { rejectedSpans: '2', errorMessage } });
      collector.answerOf.set('/v1/metrics', { partialSuccess: { rejectedDataPoints: 0, errorMessage: '' } });
      const ids: string[] = [];
      for (let n = 0; n < 3; n += 1) {
        const { id } = await chat(world);
        ids.push(id);
        await spansOf(collector, id);
      }
      collector.answerOf.clear();
      await spansOf(collector, (await chat(world)).id);
      const { endpoint } = collector;
      await eventually('it is told that it is back', () => told().length === 2);
      assert.deepEqual(told(), [
        [
          'the OpenTelemetry collector does not take what is sent',
          { collector: endpoint, why: 'spans rejected: spans are older than an hour' },
        ],
        ['the OpenTelemetry collector takes what is sent again', { collector: endpoint }],
      ]);
      for (const id of ids) assert.equal((await spansOf(collector, id)).length, 2, 'sent once');
    } finally {
      await world.close();
      await collector.close();
    }
  });

  test('it is told why, whatever it is', async () => {
    const collector = await startOtlpCollector();
    collector.status = 302;
    try {
      for (const [endpoint, why] of [
        [`http://127.0.0.1:${await unusedPort()}`, 'ECONNREFUSED'],
        [collector.endpoint, 'unexpected redirect'],
        // A port to which no fetch may go.
        ['http://127.0.0.1:9', 'bad port'],
      ] as const) {
        const world = await openObserved({ otel: otelTo({ ...collector, endpoint }) });
        try {
          await chat(world);
          const told = await eventually('it is told', () =>
            world.log.lines.find(({ message }) => /collector/.test(message)),
          );
          assert.deepEqual(told.fields, { collector: endpoint, why });
        } finally {
          await world.close();
        }
      }
    } finally {
      await collector.close();
    }
  });

  test('one that never answers holds up nothing, not even the end for long', async () => {
    const collector = await startOtlpCollector();
    collector.status = 0;
    const world = await openObserved({ otel: otelTo(collector, { OTEL_EXPORTER_OTLP_TIMEOUT: '600000' }) });
    for (let n = 0; n < 5; n += 1) assert.equal((await chat(world)).status, 200);
    await world.close();
    assert.deepEqual(collector.posts, []);
    await collector.close();
  });

  test('what waits is sent before the end', async () => {
    const collector = await startOtlpCollector();
    const world = await openObserved({ otel: otelTo(collector, { OTEL_BSP_SCHEDULE_DELAY: '600000' }) });
    const { id } = await chat(world);
    await entryOf(world, id);
    await world.close();
    assert.equal((await spansOf(collector, id)).length, 2);
    await collector.close();
  });
});

describe('the trace towards upstreams', { timeout: 60_000 }, () => {
  test('is told where that is wanted: the very span of the attempt', async () => {
    const collector = await startOtlpCollector();
    const world = await openObserved({ otel: otelTo(collector, { SLUICE_OTEL_PROPAGATE: 'true' }) });
    try {
      const failure = { status: 429, headers: { 'retry-after': '60' } };
      world.answers(({ model }) => (model === 'test-model' ? failure : { text: ['Hi'] }));
      const headers = { traceparent: `00-${TRACE}-${PARENT}-01`, tracestate: 'vendor=1' };
      for (const more of [{}, { stream: true }, { stream: true, download_media: true }]) {
        const before = world.acme.chats.length;
        const { id } = await chat(world, { models: ['acme/other-model'], ...more }, headers);
        const spans = await eventually('all spans are sent', () => {
          const root = collector.spans.find(({ of }) => of['sluice.request.id'] === id);
          return root && collector.spans.filter(({ parentSpanId }) => parentSpanId === root.spanId);
        });
        assert.deepEqual(
          world.acme.chats.slice(before).map((each) => [each.headers['traceparent'], each.headers['tracestate']]),
          spans.map(({ spanId }) => [`00-${TRACE}-${spanId}-01`, 'vendor=1']),
        );
        // A model that has just failed is not tried first again.
        assert.equal(spans.length, 'stream' in more ? 1 : 2);
      }
      const own = world.acme.chats.length;
      await Promise.all(Array.from({ length: 8 }, () => chat(world, { model: 'acme/other-model' })));
      const traces = world.acme.chats.slice(own).map((each) => String(each.headers['traceparent']).split('-')[1]);
      assert.equal(new Set(traces).size, 8, 'requests at the same time do not mix');
    } finally {
      await world.close();
      await collector.close();
    }
  });
});
