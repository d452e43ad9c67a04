import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import OpenAI, { APIError } from 'openai';
import type { CompactedResponse, ResponseInputItem } from 'openai/resources/responses/responses';
import { startAnthropicUpstream } from '../support/anthropic-upstream.ts';
import { eventually } from '../support/eventually.ts';
import type { Gateway } from '../support/gateway.ts';
import { startResponsesUpstream } from '../support/responses-upstream.ts';
import { usageLines } from '../support/usage.ts';
import type { VendorAnswer } from '../support/vendor-script.ts';
import type { VendorUpstream } from '../support/vendor-server.ts';
import { startGatewayBefore } from './gateway-before.ts';
import { assertHolds } from './sdk-vendors.ts';

type Json = Record<string, unknown>;

const SUMMARY = 'The user wants tide.ts mended; line 7 is wrong.';

/** As OpenAI answers, with members that nobody here knows. */
const COMPACTED = {
  id: 'resp_001',
  object: 'response.compaction',
  created_at: 1_764_967_971,
  output: [
    {
      id: 'msg_000',
      type: 'message',
      status: 'completed',
      role: 'user',
      content: [{ type: 'input_text', text: 'Mend it.' }],
    },
    { id: 'cmp_001', type: 'compaction', encrypted_content: 'gAAAAAB0sealed' },
  ],
  usage: {
    input_tokens: 4_139,
    input_tokens_details: { cached_tokens: 12 },
    output_tokens: 438,
    output_tokens_details: { reasoning_tokens: 64 },
    total_tokens: 4_577,
  },
  service_tier: 'flex',
};

/** Before an upstream that speaks the Responses API to the end. */
describe('compaction at OpenAI', { timeout: 120_000 }, () => {
  let own: VendorUpstream;
  let claude: VendorUpstream;
  let gateway: Gateway;
  let client: OpenAI;
  let close: () => Promise<void>;
  /** What `responses/compact` answers there, and what everything else does. */
  let compacts: VendorAnswer;
  let answers: VendorAnswer;

  before(async () => {
    own = await startResponsesUpstream(({ path }) => (path.endsWith('/compact') ? compacts : answers));
    claude = await startAnthropicUpstream(() => ({ text: [SUMMARY] }));
    const started = await startGatewayBefore(
      [own, claude],
      `
providers:
  own: { kind: openai-responses, baseUrl: '${own.baseUrl}', apiKey: own-key, hostedTools: true }
  both: { kind: openai, baseUrl: '${own.baseUrl}', apiKey: own-key, hostedTools: true }
  claude: { kind: anthropic, baseUrl: '${claude.baseUrl}', apiKey: claude-key }
limits: { answerBytes: 100000 }
`,
    );
    ({ gateway, close } = started);
    client = new OpenAI({ baseURL: `${gateway.origin}/v1`, apiKey: 'secret', maxRetries: 0 });
  });
  after(() => close());

  function says(compacted: Json | VendorAnswer = COMPACTED): void {
    const isAnswer = 'status' in compacted || 'raw' in compacted || 'silent' in compacted;
    const headers = { 'content-type': 'application/json' };
    compacts = isAnswer ? { headers, ...(compacted as VendorAnswer) } : { raw: JSON.stringify(compacted), headers };
    answers = { text: [SUMMARY] };
  }

  const posts = (upstream = own) => upstream.requests.filter(({ method }) => method === 'POST');
  const lastBody = (upstream = own): Json => posts(upstream).at(-1)?.body as Json;

  const compact = async (
    fields: Json = {},
  ): Promise<{ readonly data: CompactedResponse; readonly headers: Headers }> => {
    const asked = { model: 'own/gpt-5.2', input: 'Mend it.', ...fields } as never;
    const { data, response } = await client.responses.compact(asked).withResponse();
    return { data: data as CompactedResponse, headers: response.headers };
  };

  for (const provider of ['own', 'both']) {
    test(`${provider}: goes there as the client wrote it, and comes back as it is`, async () => {
      says();
      const tools = [{ type: 'code_interpreter', container: { type: 'auto' } }];
      const fields = {
        tools,
        reasoning: { effort: 'low' },
        prompt_cache_key: 'a-session',
        prompt_cache_options: { mode: 'explicit' },
        service_tier: 'flex',
        user: `of ${provider}`,
        what_comes_next: 1,
      };
      const input = [
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Mend it.' }] },
        { type: 'code_interpreter_call', id: 'ci_1', status: 'completed', code: '1', container_id: 'c', outputs: [] },
        { type: 'compaction', id: 'cmp_000', encrypted_content: 'gAAAAearlier' },
      ];
      const asked = { model: `${provider}/gpt-5.2`, input, instructions: 'Be brief.', ...fields };
      const { data, headers } = await compact(asked);
      assert.deepEqual(data, COMPACTED);
      assert.equal(headers.get('x-sluice-provider'), provider);
      assert.equal(headers.get('x-sluice-dropped'), null);
      assert.equal(posts().at(-1)?.path, '/v1/responses/compact');
      assert.equal(posts().at(-1)?.headers.authorization, 'Bearer own-key');
      assert.deepEqual(lastBody(), { model: 'gpt-5.2', input, instructions: 'Be brief.', ...fields });
      const line = await eventually('the usage is recorded', async () =>
        (await usageLines(gateway.origin)).find((each) => each.includes(`"of ${provider}"`)),
      );
      assertHolds(JSON.parse(line), { provider, model: 'gpt-5.2', prompt_tokens: 4_139, completion_tokens: 438 });
      // What came back begins the next request.
      await client.responses.create({ model: `${provider}/gpt-5.2`, input: data.output as ResponseInputItem[] });
      assertHolds(lastBody()['input'], [{ role: 'user' }, COMPACTED.output[1]]);
    });
  }

  test('of answers that are stored here, all of them go there', async () => {
    says();
    const first = await client.responses.create({ model: 'own/gpt-5.2', input: 'What is wrong?' });
    await compact({ input: undefined, previous_response_id: first.id });
    const body = lastBody();
    assert.equal('previous_response_id' in body, false);
    assertHolds(body['input'], [
      { role: 'user', content: [{ type: 'input_text', text: 'What is wrong?' }] },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: SUMMARY }] },
    ]);
  });

  for (const status of [404, 405]) {
    test(`an upstream without it (${status}) is asked for a summary`, async () => {
      for (const provider of ['own', 'both']) {
        says({ status, raw: '<h1>Nothing here</h1>', headers: { 'content-type': 'text/html' } });
        const fields = { tools: [{ type: 'web_search' }], text: { verbosity: 'low' }, reasoning: { effort: 'low' } };
        const { data, headers } = await compact({ model: `${provider}/gpt-5.2`, ...fields });
        assert.deepEqual(
          posts()
            .slice(-2)
            .map(({ path }) => path),
          ['/v1/responses/compact', '/v1/responses'],
        );
        assert.equal(headers.get('x-sluice-attempts'), '1');
        assertHolds(lastBody(), { reasoning: { effort: 'low' } });
        assert.equal('tools' in lastBody() || 'text' in lastBody(), false);
        assert.match(posts().at(-1)?.prompt ?? '', /Mend it\.[\s\S]*Write the summary/);
        assert.equal(data.output.length, 2);
        assert.match(JSON.stringify(data.output[1]), /"encrypted_content":"sluice\.v1\./);
      }
    });
  }

  test('a summary of ours is a message there, since nobody there can read the item', async () => {
    says();
    const { data } = await compact({ model: 'claude/claude-sonnet-4-5' });
    for (const provider of ['own', 'both']) {
      const input = [...data.output, { role: 'user', content: 'Go on.' }] as ResponseInputItem[];
      await client.responses.create({ model: `${provider}/gpt-5.2`, input });
      const [first, second, third, ...rest] = lastBody()['input'] as Json[];
      assert.equal(rest.length, 0);
      assertHolds([first, third], [{ content: [{ text: 'Mend it.' }] }, { content: [{ text: 'Go on.' }] }]);
      assertHolds(second, { type: 'message', role: 'user' });
      assert.ok(JSON.stringify(second).includes(SUMMARY));
      await compact({ model: `${provider}/gpt-5.2`, input });
      assert.doesNotMatch(JSON.stringify(lastBody()), /sluice\.v1|"compaction"/);
    }
  });

  test('what fails there is a status, and another provider may take over', async () => {
    says({ status: 400, errorMessage: 'No tool output found for function call call_1.' });
    await assert.rejects(
      compact(),
      (error) => error instanceof APIError && error.status === 400 && /No tool output/.test(error.message),
    );
    says({ status: 429, errorMessage: 'Slow down.' });
    const { data, headers } = await compact({ models: ['claude/claude-sonnet-4-5'] });
    assert.equal(headers.get('x-sluice-provider'), 'claude');
    assert.equal(data.output.at(-1)?.type, 'compaction');
  });

  test('what is no compaction, or larger than Sluice takes in, is not believed', async () => {
    for (const answer of [{ hello: 'world' }, { ...COMPACTED, more: 'x'.repeat(100_000) }, { raw: 'Hello' }]) {
      says(answer);
      await assert.rejects(compact(), (error) => error instanceof APIError && error.status === 502);
    }
  });

  test('a client that leaves stops it', async () => {
    says({ silent: true });
    const { length } = posts();
    const leaving = new AbortController();
    const asked = client.responses.compact(
      { model: 'own/gpt-5.2' as 'gpt-5.2', input: 'Hi' },
      { signal: leaving.signal },
    );
    while (posts().length === length) await new Promise((resolve) => setTimeout(resolve, 5));
    leaving.abort();
    await assert.rejects(asked);
    assert.equal(await posts().at(-1)?.closed, 'aborted');
  });
});
