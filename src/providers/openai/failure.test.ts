import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { failureInAnswer, failureOfStatus } from './failure.ts';

const of = (status: number, body: unknown = '', headers: Record<string, string> = {}) =>
  failureOfStatus(status, headers, Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)));

describe('failureOfStatus', () => {
  for (const [status, code, shown] of [
    [202, 'upstream_invalid', 502],
    [204, 'upstream_invalid', 502],
    [301, 'upstream_invalid', 502],
    [307, 'upstream_invalid', 502],
    [400, 'invalid_request', 400],
    [401, 'missing_credentials', 401],
    [402, 'forbidden', 402],
    [403, 'forbidden', 403],
    [404, 'model_not_found', 404],
    [408, 'upstream_timeout', 504],
    [413, 'too_large', 413],
    [422, 'invalid_request', 422],
    [429, 'rate_limited', 429],
    [451, 'invalid_request', 451],
    [500, 'provider_failed', 500],
    [502, 'upstream_failed', 502],
    [503, 'overloaded', 503],
    [504, 'upstream_timeout', 504],
    [524, 'upstream_timeout', 504],
    [529, 'overloaded', 503],
  ] as const) {
    test(`${status} → ${code}`, () => {
      const error = of(status, { error: { message: 'In their words' } });
      assert.equal(error.code, code);
      assert.equal(error.status, shown);
      if (status >= 400) assert.equal(error.message, 'In their words');
    });
  }

  for (const said of [
    "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
    'prompt is too long: 211000 tokens > 200000 maximum',
    'The input token count (1048800) exceeds the maximum number of tokens allowed (1048576).',
    'Input is too long for requested model.',
    'Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length',
    'the request exceeds the available context size. try increasing the context size or enable context shift',
    'The context window for this model was exceeded',
  ]) {
    test(`a prompt that does not fit: ${said.slice(0, 40)}`, () => {
      const error = of(400, { error: { message: said } });
      assert.deepEqual([error.code, error.status, error.message], ['context_length_exceeded', 400, said]);
      assert.equal(of(500, { error: { message: said } }).code, 'provider_failed');
    });
  }

  test("OpenAI's own words for these two count, wherever they stand", () => {
    const long = { message: 'Too much', type: 'invalid_request_error', code: 'context_length_exceeded' };
    assert.equal(of(400, { error: long }).code, 'context_length_exceeded');
    assert.equal(
      of(400, { error: { ...long, code: 400, type: 'exceed_context_size_error' } }).code,
      'context_length_exceeded',
    );
    const quota = {
      message: 'You exceeded your current quota',
      type: 'insufficient_quota',
      code: 'insufficient_quota',
    };
    const error = of(429, { error: quota });
    assert.deepEqual([error.code, error.status, error.type], ['insufficient_quota', 429, 'insufficient_quota']);
    assert.equal(failureInAnswer({ error: long })?.code, 'context_length_exceeded');
    assert.equal(failureInAnswer({ error: quota })?.status, 429);
    assert.equal(
      of(400, { error: { message: 'The context of this is unclear', code: 'other' } }).code,
      'invalid_request',
    );
  });

  test('the words are found wherever upstreams put them', () => {
    for (const body of [
      { error: { message: 'words' } },
      { error: 'words' },
      { message: 'words' },
      { detail: 'words' },
      [{ error: { message: 'words' } }],
    ]) {
      assert.equal(of(400, body).message, 'words');
    }
    const detail = [
      {
        type: 'extra_forbidden',
        loc: ['body', 'messages', 1, 'assistant', 'x'],
        msg: 'Extra inputs are not permitted',
      },
      { loc: ['body', 'n'], msg: 'too large' },
    ];
    const told = 'body.messages.1.assistant.x: Extra inputs are not permitted; body.n: too large';
    assert.equal(of(422, { detail }).message, told);
    assert.equal(of(422, { object: 'error', message: { detail }, type: 'invalid_request_error' }).message, told);
    assert.equal(of(422, { detail: ['odd', null] }).message, '["odd",null]');
    assert.equal(of(422, { detail: { status: 'odd' } }).message, '{"status":"odd"}');
  });

  test('pages and rubbish are never quoted', () => {
    for (const body of ['<html>secret</html>', '', 'secret', '{"error":{"message":{"secret":1}}}', 'null', '5']) {
      for (const status of [400, 500, 503]) assert.doesNotMatch(of(status, body).message, /secret|html/);
    }
  });

  test('words are cut to a sane length, without control characters', () => {
    const { message } = of(400, { error: { message: `a\u0000\u001b[31m\u009b31m${'x'.repeat(5_000)}` } });
    assert.ok(message.length <= 2_001);
    for (const character of ['\u0000', '\u001b', '\u009b']) assert.ok(!message.includes(character));
  });

  test('Retry-After in seconds and as a date', () => {
    const after = (value: string) => of(429, '', { 'retry-after': value }).options.retryAfter;
    assert.equal(after('7'), 7);
    assert.equal(after(' 0 '), 0);
    assert.equal(after('soon'), undefined);
    assert.equal(after('1.5'), 2);
    for (const endless of ['9'.repeat(30), '9'.repeat(400)]) assert.equal(after(endless), 1_000_000_000);
    for (const nothing of ['-5', '', '1:5', '7 s']) assert.equal(after(nothing), undefined, nothing);
    assert.equal(after(new Date(Date.now() - 60_000).toUTCString()), 0);
    const later = after(new Date(Date.now() + 60_000).toUTCString());
    assert.ok(later !== undefined && later > 55 && later <= 61, `${later}`);
    assert.equal(of(500, '', { 'retry-after': '9' }).options.retryAfter, 9);
  });
});

describe('failureInAnswer', () => {
  test('reads the status from where upstreams put it', () => {
    for (const error of [
      { message: 'm', code: 429 },
      { message: 'm', code: 'rate_limit_exceeded' },
      { message: 'm', type: 'rate_limit_error' },
      { message: 'm', code: '429' },
      { message: 'm', code: 'rate_limit', status: 429 },
      { message: 'm', status_code: 429 },
    ]) {
      assert.equal(failureInAnswer({ error })?.code, 'rate_limited');
    }
    assert.equal(failureInAnswer({ error: { message: 'm', code: 'server_error' } })?.code, 'provider_failed');
    assert.equal(failureInAnswer({ error: true })?.code, 'provider_failed');
  });

  test('finds an error that is the whole object, and one that ended a choice', () => {
    const whole = failureInAnswer({ object: 'error', message: 'too long', type: 'BadRequestError', code: 400 });
    assert.deepEqual([whole?.code, whole?.message], ['invalid_request', 'too long']);
    const ended = { index: 0, delta: { content: '' }, finish_reason: 'error', error: { code: 502, message: 'died' } };
    const choice = failureInAnswer({ error: null, choices: [ended] });
    assert.deepEqual([choice?.code, choice?.message], ['upstream_failed', 'died']);
    assert.equal(failureInAnswer({ choices: [null, { finish_reason: 'error' }] })?.code, 'provider_failed');
  });

  test('is silent where there is no error', () => {
    const answers = [{}, { error: null }, { error: false }, { error: '' }, { choices: [] }, { choices: [null, 5] }];
    for (const answer of [...answers, { choices: [{ finish_reason: 'stop', error: null }] }]) {
      assert.equal(failureInAnswer(answer), undefined);
    }
  });

  test('survives any JSON', () => {
    const hostile = fc.constantFrom({ code: { toString: 1, valueOf: 1 } }, { message: { toJSON: 1 } }, { code: [[]] }, [
      { loc: [{ toString: 1 }], msg: 'x' },
    ]);
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), hostile), (error) => {
        failureInAnswer({ error });
        failureOfStatus(500, {}, Buffer.from(JSON.stringify({ error, detail: error, message: error })));
      }),
    );
  });
});
