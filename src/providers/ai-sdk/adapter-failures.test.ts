import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, test } from 'node:test';
import { inspect } from 'node:util';
import { testCall } from '../../../test/support/call.ts';
import { chatRequest } from '../../../test/support/chat-request.ts';
import { allChunks, contentOf, openVendor, untilFailure, VENDORS } from '../../../test/support/vendors.ts';
import { SluiceError } from '../../core/errors.ts';

const STATUSES = [
  { status: 400, code: 'invalid_request', seen: 400 },
  { status: 401, code: 'missing_credentials', seen: 401 },
  { status: 402, code: 'forbidden', seen: 402 },
  { status: 403, code: 'forbidden', seen: 403 },
  { status: 404, code: 'model_not_found', seen: 404 },
  { status: 413, code: 'too_large', seen: 413 },
  { status: 422, code: 'invalid_request', seen: 422 },
  { status: 429, code: 'rate_limited', seen: 429 },
  { status: 500, code: 'provider_failed', seen: 500 },
  { status: 502, code: 'upstream_failed', seen: 502 },
  { status: 503, code: 'overloaded', seen: 503 },
  { status: 504, code: 'upstream_timeout', seen: 504 },
  { status: 524, code: 'upstream_timeout', seen: 504 },
  { status: 529, code: 'overloaded', seen: 503 },
];

/** Bedrock's streams are no events; its library reads them to the end of the connection. */
describe('an answer that is complete ends soon, though its connection stays open', { concurrency: true }, () => {
  for (const [kind, said] of [
    ['anthropic', { answeredAs: { id: 'msg_scripted', model: 'claude-haiku-4-5' } }],
    ['google', { answeredAs: { id: 'resp_scripted' } }],
    [
      'openai-responses',
      {
        serviceTier: 'default',
        answeredAs: { id: 'resp_67ccd2bed1ec8190b14f964abc0542670bb6a6b452d3795b', model: 'gpt-5.2' },
      },
    ],
  ] as const) {
    test(kind, { timeout: 60_000 }, async () => {
      await using vendor = await openVendor(kind, () => ({ text: ['Hi', ' you'], lingers: true }));
      const chunks = await allChunks(vendor.chat(chatRequest('Hello')));
      assert.equal(contentOf(chunks), 'Hi you');
      assert.deepEqual(chunks.at(-1), { type: 'finish', finish: 'stop', ...said });
      assert.equal(await vendor.upstream.requests[0]?.closed, 'aborted');
    });
  }
});

describe('a 403 says what the vendor says', () => {
  const anthropic = (message: string) => ({ type: 'error', error: { type: 'permission_error', message } });
  const google = (message: string) => ({ error: { code: 403, message, status: 'PERMISSION_DENIED' } });
  const amazon = (message: string) => ({ message });
  for (const [kind, body, code, words] of [
    ['anthropic', anthropic('Your API key does not have permission to use the specified resource.'), 'forbidden'],
    ['anthropic', { error: { type: 'forbidden', message: 'Request not allowed' } }, 'forbidden'],
    ['google', google('Generative Language API has not been used in project 1 before or it is disabled.'), 'forbidden'],
    ['google', google('The caller does not have permission'), 'forbidden'],
    ['google', google('Your API key was reported as leaked. Please use another API key.'), 'missing_credentials'],
    ['google', google("Method doesn't allow unregistered callers."), 'missing_credentials'],
    ['bedrock', amazon("You don't have access to the model with the specified model ID."), 'forbidden'],
    ['bedrock', amazon('The security token included in the request is invalid.'), 'missing_credentials'],
    ['bedrock', amazon('Authentication failed: Please make sure your API Key is valid.'), 'missing_credentials'],
    ['google', {}, 'forbidden', 'Acme answered 403 without an explanation.'],
  ] as const) {
    test(`${kind}: ${JSON.stringify(body)}`, async () => {
      await using vendor = await openVendor(kind, () => ({ status: 403, raw: JSON.stringify(body) }));
      const { error } = await untilFailure(vendor.chat(chatRequest('Hello')));
      const { message: inner } = ('error' in body ? body.error : body) as { readonly message?: string };
      const said = words ?? inner;
      const message = code === 'forbidden' ? said : `Acme refused the API key: ${said}`;
      assert.deepEqual([error.code, error.status, error.message], [code, 403, message]);
    });
  }
});

for (const { kind } of VENDORS) {
  describe(kind, () => {
    for (const { status, code, seen } of STATUSES) {
      test(`${status} becomes ${code}, in the vendor's words, without a second try`, async () => {
        await using vendor = await openVendor(kind, () => ({ status, errorMessage: 'The vendor says why.' }));
        const { chunks, error } = await untilFailure(vendor.chat(chatRequest('Hello')));
        assert.deepEqual(chunks, []);
        assert.equal(error.code, code);
        assert.equal(error.status, seen);
        assert.match(error.message, /The vendor says why\./);
        assert.equal(vendor.upstream.requests.length, 1);
      });
    }

    test('retry-after is passed on, as seconds or as a date', async () => {
      const date = new Date(Date.now() + 90_000).toUTCString();
      for (const value of ['17', date]) {
        await using vendor = await openVendor(kind, () => ({ status: 429, headers: { 'retry-after': value } }));
        const { error } = await untilFailure(vendor.chat(chatRequest('Hello')));
        const { retryAfter = 0 } = error.options;
        if (value === '17') assert.equal(retryAfter, 17);
        else assert.ok(retryAfter > 80 && retryAfter <= 91, `${retryAfter}`);
      }
    });

    test('an error without JSON is told by its status', async () => {
      await using vendor = await openVendor(kind, () => ({
        status: 502,
        raw: '<html><h1>Bad gateway</h1></html>',
        headers: { 'content-type': 'text/html' },
      }));
      const { error } = await untilFailure(vendor.chat(chatRequest('Hello')));
      assert.equal(error.code, 'upstream_failed');
      assert.equal(error.message, 'Acme answered 502 without an explanation.');
    });

    test('an endless error body is not taken in', async () => {
      await using vendor = await openVendor(kind, () => ({ status: 500, raw: 'x'.repeat(50_000_000) }));
      const { error } = await untilFailure(vendor.chat(chatRequest('Hello')));
      assert.equal(error.code, 'upstream_failed');
      assert.equal(await vendor.upstream.requests[0]?.closed, 'aborted');
    });

    test('a redirect is not followed', async () => {
      let visits = 0;
      const elsewhere = createServer((_request, response) => {
        visits += 1;
        response.end();
      }).listen(0, '127.0.0.1');
      await new Promise((resolve) => elsewhere.once('listening', resolve));
      const location = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}/`;
      await using vendor = await openVendor(kind, () => ({ status: 307, headers: { location } }));
      const { error } = await untilFailure(vendor.chat(chatRequest('Hello')));
      elsewhere.close();
      assert.equal(error.code, 'upstream_invalid');
      assert.equal(visits, 0);
    });

    test('a JSON schema that is none is the mistake of whoever sent it', async () => {
      await using vendor = await openVendor(kind, () => ({}));
      const schemas = [
        { properties: { a: null } },
        { anyOf: [null] },
        { oneOf: 7 },
        { allOf: { a: 1 } },
        { items: [null] },
      ];
      for (const schema of schemas) {
        const parameters = { type: 'object', ...schema };
        const requests = [
          chatRequest('Hello', { tools: [{ name: 'f', parameters }] }),
          chatRequest('Hello', { responseFormat: { type: 'json_schema', name: 'j', schema: parameters } }),
        ];
        for (const request of requests) {
          const sentBefore = vendor.upstream.requests.length;
          const { error } = await untilFailure(vendor.chat(request)).catch(() => ({ error: undefined }));
          if (vendor.upstream.requests.length > sentBefore) continue;
          assert.equal(error?.code, 'invalid_request', JSON.stringify(schema));
          assert.match(error.message, /JSON Schema/);
        }
      }
    });

    test('nobody listens', async () => {
      await using vendor = await openVendor(kind, () => ({}), { baseUrl: 'http://127.0.0.1:1' });
      const { error } = await untilFailure(vendor.chat(chatRequest('Hello')));
      assert.equal(error.code, 'upstream_unreachable');
      assert.equal(error.message, 'Acme cannot be reached.');
    });

    test('what came before a cut stays, and the cut is told', async () => {
      await using vendor = await openVendor(kind, () => ({ text: ['Half', ' an', ' answer'], cutAfter: 2 }));
      const { chunks, error } = await untilFailure(vendor.chat(chatRequest('Hello')));
      assert.equal(contentOf(chunks), 'Half an');
      assert.equal(error.code, 'upstream_cut');
      assert.equal(
        chunks.some((chunk) => chunk.type === 'finish'),
        false,
      );
      assert.equal(vendor.upstream.requests.length, 1);
    });

    for (const endAfter of [0, 2]) {
      test(`a stream that ends after ${endAfter} pieces without its finish was cut`, async () => {
        await using vendor = await openVendor(kind, () => ({ text: ['Half', ' an', ' answer'], endAfter }));
        const { chunks, error } = await untilFailure(vendor.chat(chatRequest('Hello')));
        assert.equal(contentOf(chunks), ['Half', ' an'].slice(0, endAfter).join(''));
        assert.equal(error.code, 'upstream_cut');
      });
    }

    for (const errorAfter of [0, 2]) {
      test(`an error in the stream after ${errorAfter} pieces`, async () => {
        await using vendor = await openVendor(kind, () => ({
          text: ['Half', ' an', ' answer'],
          errorAfter,
          errorMessage: 'Too many at once.',
        }));
        const { chunks, error } = await untilFailure(vendor.chat(chatRequest('Hello')));
        assert.equal(contentOf(chunks), ['Half', ' an'].slice(0, errorAfter).join(''));
        // Amazon's scripted error is its throttling exception, the others are overloaded.
        assert.equal(error.code, kind === 'bedrock' ? 'rate_limited' : 'overloaded');
        assert.match(error.message, /Too many at once\./);
      });
    }

    test('a web page or JSON in place of a stream', async () => {
      for (const contentType of ['text/html', 'application/json']) {
        await using vendor = await openVendor(kind, () => ({ raw: '{}', headers: { 'content-type': contentType } }));
        const { error } = await untilFailure(vendor.chat(chatRequest('Hello')));
        assert.equal(error.code, 'upstream_invalid');
      }
    });

    test('an error with status 200 in place of a stream, in the words of the vendor', async () => {
      const errors = [
        [{ type: 'error', error: { type: 'overloaded_error', message: 'Too many at once.' } }, 'provider_failed'],
        [{ error: { code: 503, message: 'Too many at once.', status: 'UNAVAILABLE' } }, 'overloaded'],
        [{ message: 'Too many at once.' }, 'provider_failed'],
      ] as const;
      for (const [error, code] of errors) {
        const headers = { 'content-type': 'application/json' };
        await using vendor = await openVendor(kind, () => ({ raw: JSON.stringify(error), headers }));
        const seen = await untilFailure(vendor.chat(chatRequest('Hello')));
        assert.deepEqual([seen.error.code, seen.error.message], [code, 'Too many at once.']);
      }
    });

    test('garbage in the stream', async () => {
      await using vendor = await openVendor(kind, () => ({ raw: 'data: {"type": nonsense\n\n' }));
      const { error } = await untilFailure(vendor.chat(chatRequest('Hello')));
      assert.match(error.code, /^upstream_(invalid|cut)$/);
    });

    test('no key: the message says where to put one', async () => {
      const keyless = { apiKey: '', keyVariable: 'ACME_API_KEY' };
      await using vendor = await openVendor(kind, () => ({ text: ['Hello'] }), keyless);
      const { error } = await untilFailure(vendor.chat(chatRequest('Hello')));
      assert.equal(error.code, 'missing_credentials');
      assert.match(
        error.message,
        /^Acme needs an API key: set ACME_API_KEY or add apiKey to providers\.\S+ in sluice\.yaml, or send api_key with/,
      );
      assert.equal(vendor.upstream.requests.length, 0);
    });

    test('the environment is never looked into', async () => {
      const names = [
        'ANTHROPIC_API_KEY',
        'GOOGLE_GENERATIVE_AI_API_KEY',
        'AWS_BEARER_TOKEN_BEDROCK',
        'AWS_ACCESS_KEY_ID',
      ];
      for (const name of names) process.env[name] = 'key-of-the-environment';
      process.env['ANTHROPIC_BASE_URL'] = 'http://127.0.0.1:1';
      try {
        await using vendor = await openVendor(kind, () => ({ text: ['Hello'] }), { apiKey: '', needsKey: false });
        const batches = vendor.chat(chatRequest('Hello'));
        await batches.next();
        await batches.return?.();
        assert.doesNotMatch(JSON.stringify(vendor.upstream.requests), /key-of-the-environment/);
        assert.equal(vendor.upstream.requests.length, 1);
      } finally {
        for (const name of [...names, 'ANTHROPIC_BASE_URL']) delete process.env[name];
      }
    });

    test('keys are in no message, even if the vendor quotes them', async () => {
      const key = 'key-of-the-client';
      const answers = [
        { status: 401, errorMessage: `Incorrect API key provided: ${key}.` },
        { status: 400, errorMessage: `No such header ${key}` },
        { text: ['Hello'], errorAfter: 1, errorMessage: `Who is ${key}?` },
        { text: ['Hello'], cutAfter: 1 },
        { raw: `data: ${key}\n\n` },
      ];
      for (const answer of answers) {
        await using vendor = await openVendor(kind, () => answer);
        const { error } = await untilFailure(vendor.chat(chatRequest('Hello'), testCall({ apiKey: key })));
        assert.doesNotMatch(error.message, new RegExp(key));
        assert.doesNotMatch(error.message, /\n|\bat /);
      }
    });

    test('nothing that is sent along to authenticate hangs on to an error', async () => {
      const answers = [{ status: 500 }, { cutAfter: 0 }, { endAfter: 0 }, { errorAfter: 0 }, { raw: 'data: x\n\n' }];
      for (const answer of answers) {
        await using vendor = await openVendor(kind, () => ({ text: ['Hello'], ...answer }));
        const { error } = await untilFailure(vendor.chat(chatRequest('Hello')));
        assert.doesNotMatch(inspect(error, { depth: 20, showHidden: true }), /key-of-the-test/);
      }
    });

    test('a key that is no header value is refused without being quoted', async () => {
      await using vendor = await openVendor(kind, () => ({ text: ['Hello'] }));
      const { error } = await untilFailure(vendor.chat(chatRequest('Hello'), testCall({ apiKey: 'k\r\nx-evil: 1' })));
      assert.equal(error.code, 'missing_credentials');
      assert.doesNotMatch(inspect(error), /x-evil/);
      assert.equal(vendor.upstream.requests.length, 0);
    });

    test('hostile model names reach no address', async () => {
      await using vendor = await openVendor(kind, () => ({ text: ['Hello'] }));
      const names = [
        '../../v1/keys',
        'a/../b',
        'a//b',
        '/a',
        'a?b',
        'a#b',
        'a%2fb',
        'a b',
        'a\r\nb',
        'a\u0000',
        '..',
        'ä',
        'x'.repeat(600),
      ];
      for (const model of names) {
        const { error } = await untilFailure(vendor.chat(chatRequest('Hello', { model })));
        assert.equal(error.code, 'model_not_found', model);
      }
      assert.equal(vendor.upstream.requests.length, 0);
    });

    for (const when of ['before the headers', 'in the middle'] as const) {
      const script = when === 'in the middle' ? { text: ['One', 'two'], stallAfter: 1 } : { silent: true };

      test(`cancelled ${when}: the connection closes and the reason comes out`, async () => {
        await using vendor = await openVendor(kind, () => script);
        const call = testCall();
        const batches = vendor.chat(chatRequest('Hello'), call);
        const ended = (async () => {
          for await (const batch of batches) void batch;
        })();
        const request = await firstRequest(vendor.upstream.requests);
        const reason = new SluiceError('upstream_timeout', 'Too slow.');
        call.cancel(reason);
        await assert.rejects(ended, reason);
        assert.equal(await request.closed, 'aborted');
      });

      test(`left ${when}, while a step waits: the connection closes at once`, async () => {
        await using vendor = await openVendor(kind, () => script);
        const batches = vendor.chat(chatRequest('Hello'));
        let step = batches.next();
        const request = await firstRequest(vendor.upstream.requests);
        if (when === 'in the middle') {
          let seen = '';
          while (seen === '') {
            seen = contentOf((await step).value ?? []);
            step = batches.next();
          }
        }
        await batches.return?.();
        assert.equal((await step).done, true);
        assert.equal(await request.closed, 'aborted');
      });
    }

    test('a consumer that breaks off closes the connection', async () => {
      await using vendor = await openVendor(kind, () => ({ text: ['One', 'two'], stallAfter: 1 }));
      for await (const batch of vendor.chat(chatRequest('Hello'))) {
        if (contentOf(batch) !== '') break;
      }
      assert.equal(await vendor.upstream.requests[0]?.closed, 'aborted');
    });

    test('a call that is over before it starts does nothing', async () => {
      await using vendor = await openVendor(kind, () => ({ text: ['Hello'] }));
      const call = testCall();
      const reason = new SluiceError('cancelled', 'Gone.');
      call.cancel(reason);
      await assert.rejects(vendor.chat(chatRequest('Hello'), call).next(), reason);
    });

    for (const errorAfter of [0, 1]) {
      test(`a stream that goes on after an error after ${errorAfter} pieces is closed`, async () => {
        await using vendor = await openVendor(kind, () => ({ text: ['a', 'b'], errorAfter, stallAfter: errorAfter }));
        await untilFailure(vendor.chat(chatRequest('Hello')));
        assert.equal(await vendor.upstream.requests[0]?.closed, 'aborted');
      });
    }
  });
}

/** The first request, as soon as it has arrived. */
async function firstRequest<Request>(requests: readonly Request[]): Promise<Request> {
  for (;;) {
    const [request] = requests;
    if (request !== undefined) return request;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

test('an option that the library does not know is named', async () => {
  await using vendor = await openVendor('openai-responses', () => ({}));
  const { error } = await untilFailure(vendor.chat(chatRequest('Hello', { extra: { service_tier: 'fastest' } })));
  assert.equal(error.code, 'invalid_request');
  assert.match(error.message, /serviceTier/);
});
