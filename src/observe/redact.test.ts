import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Secrets } from '../core/secrets.ts';
import { redact, redactText } from './redact.ts';

const secrets = new Secrets();
secrets.use(['planted-secret-of-the-test']);
/** As it will be stored. */
const kept = (body: unknown): unknown => JSON.parse(JSON.stringify(redact(body, secrets).body));

describe('what is kept of a body', () => {
  test('no keys, cookies and secrets, wherever they stand', () => {
    const body = {
      api_key: 'sk-1',
      apiKey: { acme: 'sk-2' },
      'x-api-key': 'sk-3',
      messages: [
        { role: 'user', content: 'My key is planted-secret-of-the-test, keep it', Authorization: 'Bearer sk-4' },
      ],
      extra: { cookies: [{ name: 'a', value: 'sk-5' }], session_token: 'sk-6', password: 'sk-7' },
    };
    const text = JSON.stringify(kept(body));
    assert.doesNotMatch(text, /sk-\d|planted/);
    assert.match(text, /My key is \*\*\*, keep it/);
    assert.equal(redact(body, secrets).truncated, false);
  });

  test('what only sounds like a secret stays', () => {
    const body = {
      max_tokens: 5,
      token: null,
      tools: [{ parameters: { properties: { password: { type: 'string' } } } }],
      tokens: [1, 2],
    };
    assert.deepEqual(kept(body), body);
  });

  test('data: URIs and bare base64 become short', () => {
    const data = Buffer.alloc(6_000, 7).toString('base64');
    const body = {
      content: `See data:image/png;base64,${data} here`,
      url: `DATA:image/png;base64,${data}`,
      input_audio: { data },
    };
    assert.deepEqual(kept(body), {
      content: 'See data:image/png;base64,[8000 characters] here',
      url: 'DATA:image/png;base64,[8000 characters]',
      input_audio: { data: '[8000 characters of data]' },
    });
  });

  test('the beginning of a secret at a cut is masked too', () => {
    const { text, truncated } = redactText(`${'x '.repeat(32 * 1024 - 8)}planted-secret-of-the-test`, secrets);
    assert.equal(truncated, true);
    assert.doesNotMatch(text, /planted/);
  });

  test('size and depth have an end', () => {
    const long = redact(
      { messages: Array.from({ length: 10_000 }, () => ({ content: 'word '.repeat(100) })) },
      secrets,
    );
    assert.equal(long.truncated, true);
    assert.ok(JSON.stringify(long.body).length < 100_000);
    let deep: unknown = 'end';
    for (let n = 0; n < 100; n += 1) deep = { deep };
    assert.equal(redact(deep, secrets).truncated, true);
    assert.equal(redact(JSON.parse('{"__proto__":{"polluted":1}}'), secrets).truncated, false);
    assert.equal(Reflect.get({}, 'polluted'), undefined);
  });
});
