import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { describe, test } from 'node:test';
import type { WholeRequest } from '../api/observe.ts';
import { LOGGED_CHAT } from '../api/testing.ts';
import { loggedChat } from './logged-chat.ts';
import { asCurl, asNode, asPython, hasSdkCall } from './snippets.ts';

const base: WholeRequest = {
  ...LOGGED_CHAT,
  model: 'gpt-4o-2026',
  request: {
    body: { model: 'gpt-4o', messages: [{ role: 'user', content: 'It\'s $HOME\n`x` \\ "q"' }], temperature: 0 },
    truncated: false,
  },
  answer: null,
};
const ORIGIN = 'http://localhost:1337';

describe('a request as code', () => {
  test('for a shell is quoted so that nothing in it runs', () => {
    const curl = asCurl(base, ORIGIN);
    // The shell itself says what it takes from it.
    const taken = execFileSync('/bin/sh', ['-c', `curl() { printf '%s\\0' "$@"; }; ${curl}`], { encoding: 'utf8' });
    const [url, , header, , body = ''] = taken.split('\0');
    assert.deepEqual([url, header], [`${ORIGIN}/v1/chat/completions`, 'Content-Type: application/json']);
    assert.deepEqual(JSON.parse(body), base.request?.body);
  });

  test('for a shell has its address filled in', () => {
    const curl = asCurl({ ...base, route: '/api/:provider/chat/completions' }, ORIGIN);
    assert.match(curl, /'http:\/\/localhost:1337\/api\/openai\/chat\/completions'/);
    const asked = {
      ...base,
      method: 'GET',
      route: '/backend-api/v2/create',
      request: { body: { prompt: 'a b' }, truncated: false },
    };
    assert.equal(asCurl(asked, ORIGIN), `curl '${ORIGIN}/backend-api/v2/create?prompt=a+b'`);
  });

  test('for Node.js is the same call', async () => {
    const code = asNode(base, ORIGIN).replace("import OpenAI from 'openai';", '');
    const calls: unknown[] = [];
    class OpenAI {
      readonly chat = { completions: { create: async (body: unknown) => calls.push(body) } };
    }
    const run = new Function('OpenAI', 'console', `return (async () => {${code}})()`);
    await run(OpenAI, { log: () => {} });
    assert.deepEqual(calls, [base.request?.body]);
  });

  test('for Python has Python’s words', () => {
    const body = { model: 'gpt-4o', messages: [], stream: true, user: null, logprobs: false };
    const code = asPython({ ...base, request: { body, truncated: false } }, ORIGIN);
    assert.match(code, /client = OpenAI\(base_url="http:\/\/localhost:1337\/v1", api_key="none"\)/);
    assert.match(code, /stream=True,\n {4}user=None,\n {4}logprobs=False,/);
    assert.match(code, /for chunk in answer:/);
  });

  test('for Python hands over what OpenAI’s library does not know the way that it takes anything', () => {
    const body = { model: 'm', provider: 'p', messages: [], web_search: true, 'x-y': 1, temperature: 0 };
    const code = asPython({ ...base, request: { body, truncated: false } }, ORIGIN);
    const given = [
      '    model="m",',
      '    messages=[],',
      '    temperature=0,',
      '    extra_body={"provider": "p", "web_search": True, "x-y": 1},',
    ];
    assert.ok(code.includes(`client.chat.completions.create(\n${given.join('\n')}\n)`), code);
  });

  test('of another dialect says the same in OpenAI’s words', () => {
    const body = {
      model: 'claude',
      system: 'Be brief.',
      max_tokens: 5,
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
    };
    const code = asNode(
      { ...base, dialect: 'anthropic', route: '/v1/messages', request: { body, truncated: false } },
      ORIGIN,
    );
    assert.match(code, /role: "system", content: "Be brief\."/);
    assert.match(code, /role: "user", content: "Hi"/);
    assert.match(code, /max_tokens: 5/);
  });

  test('is a beginning where nothing was kept', () => {
    const empty = { ...base, request: null, stream: true };
    assert.match(
      asPython(empty, ORIGIN),
      /model="gpt-4o",\n {4}messages=\[\{"role": "user", "content": "…"\}\],\n {4}stream=True,/,
    );
    assert.match(asCurl(empty, ORIGIN), /"model": "gpt-4o"/);
  });

  test('is there for what OpenAI’s libraries can ask for', () => {
    assert.equal(hasSdkCall(base), true);
    assert.equal(hasSdkCall({ ...base, operation: 'rerank' }), false);
    const responses = {
      ...base,
      dialect: 'responses',
      request: { body: { model: 'm', input: 'Hi' }, truncated: false },
    };
    assert.match(asNode(responses, ORIGIN), /client\.responses\.create\(\{ model: "m", input: "Hi" \}\)/);
  });
});

describe('a logged conversation', () => {
  const said = (body: unknown): readonly string[] => loggedChat(body).map(({ role, text }) => `${role}: ${text}`);

  test('is read in each dialect', () => {
    const dialects = [
      {
        messages: [
          { role: 'system', content: 'S' },
          { role: 'user', content: [{ type: 'text', text: 'U' }] },
        ],
      },
      { system: [{ type: 'text', text: 'S' }], messages: [{ role: 'user', content: 'U' }] },
      { instructions: 'S', input: [{ role: 'user', content: [{ type: 'input_text', text: 'U' }] }] },
      { instructions: 'S', input: 'U' },
      { systemInstruction: { parts: [{ text: 'S' }] }, contents: [{ role: 'user', parts: [{ text: 'U' }] }] },
      { system: 'S', prompt: 'U' },
    ];
    for (const body of dialects) assert.deepEqual(said(body), ['system: S', 'user: U'], JSON.stringify(body));
  });

  test('names what is no text', () => {
    const [first, second] = loggedChat({
      messages: [
        {
          role: 'user',
          content: [
            { type: 'image_url', image_url: { url: 'x' } },
            { type: 'text', text: 'Look' },
          ],
        },
        { role: 'assistant', content: null, tool_calls: [{ function: { name: 'weather', arguments: '{}' } }] },
      ],
    });
    assert.deepEqual(first, { role: 'user', text: 'Look', others: ['image_url'] });
    assert.deepEqual(second?.others, ['weather()']);
  });

  test('is empty where there is none', () => {
    for (const odd of [null, undefined, 5, 'x', [], {}, { messages: 5 }]) assert.deepEqual(loggedChat(odd), []);
  });
});
