import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { ApiDescription } from '../journeys/openapi-check.ts';
import { type Answer, type Ask, ask } from '../support/raw-http.ts';
import { caseOf, casesBelow, casesOf, failureOf } from './cases.ts';
import { type Fit, type Operation, requestTo } from './requests.ts';
import { type Schema, SchemaValues } from './schema-values.ts';
import { type FuzzWorld, openFuzzWorld } from './world.ts';

/** Requests for each operation, in the short form. */
const CASES = 24;
/** What is not answered until then counts as never; a figure for the speed is what `bench` measures. */
const HANG_MS = 20_000;
/** What is Sluice's fault; 501 to 504 and 507 tell of upstreams, load and disks. */
const ALLOWED = new Set([501, 502, 503, 504, 507]);
const FITS: readonly Fit[] = ['fitting', 'near', 'hostile'];

const JSON_TYPE = { 'content-type': 'application/json' };
/** Requests that were answered wrongly once, and what is right. */
const CORPUS: readonly (readonly [title: string, request: Ask, status: number])[] = [
  [
    'a model that draws, asked in a chat with a picture that is none, told of a client that had left',
    { path: '/api/generate', headers: JSON_TYPE, body: { model: 'acme/gpt-image-test', prompt: 'x', images: ['!'] } },
    400,
  ],
  [
    'an object with a length of its own, where a name belongs, was a failure',
    { path: '/v1/chat/completions', headers: JSON_TYPE, body: '{"model":{"length":{"toString":1}},"messages":[]}' },
    422,
  ],
  [
    'a field called __proto__ that a provider has no place for was a failure (responses)',
    {
      path: '/v1/responses',
      headers: JSON_TYPE,
      body: '{"model":"gemini/gemini-2.5-flash","input":"Hi","__proto__":[null]}',
    },
    200,
  ],
  [
    'the same (messages)',
    {
      path: '/v1/messages',
      headers: JSON_TYPE,
      body: '{"model":"gemini/gemini-2.5-flash","max_tokens":9,"messages":[{"role":"user","content":"Hi"}],"__proto__":" "}',
    },
    200,
  ],
  [
    'a picture whose address ends with .constructor was a failure',
    {
      path: '/v1/chat/completions',
      headers: JSON_TYPE,
      body: {
        model: 'responses/gpt-5.2',
        messages: [{ role: 'user', content: [{ type: 'image_url', image_url: 'https://a.example/x.constructor' }] }],
      },
    },
    200,
  ],
  [
    'what cannot be made a text, as a kind of a document’s content, was a failure',
    {
      path: '/v1/messages',
      headers: JSON_TYPE,
      body: `{"model":"gemini/gemini-2.5-flash","max_tokens":9,"messages":[{"role":"user","content":[{"type":"document",
        "source":{"type":"content","content":[{"type":{"toString":1}},{"type":"text","text":"Hi"}]}}]}]}`,
    },
    200,
  ],
  ...['/v1/responses', '/v1/chat/completions'].map((path): (typeof CORPUS)[number] => [
    `the same in the grammar of a freeform tool (${path})`,
    {
      path,
      headers: JSON_TYPE,
      body: {
        model: 'gemini/gemini-2.5-flash',
        ...(path.endsWith('responses') ? { input: 'Hi' } : { messages: [{ role: 'user', content: 'Hi' }] }),
        tools: [
          path.endsWith('responses')
            ? { type: 'custom', name: 'a', format: { type: 'grammar', syntax: { toString: 1 } } }
            : {
                type: 'custom',
                custom: { name: 'a', format: { type: 'grammar', grammar: { syntax: { toString: 1 } } } },
              },
        ],
      },
    },
    200,
  ]),
  [
    'what cannot be made a text, where the kinds of an answer belong, was a failure',
    {
      path: '/v1beta/models/acme%2Ftest-model:generateContent',
      headers: JSON_TYPE,
      body: '{"contents":[{"parts":[{"text":"Hi"}]}],"generationConfig":{"responseModalities":[{"toString":1}]}}',
    },
    200,
  ],
  ['what takes no body asked for one', { method: 'POST', path: '/api/push' }, 501],
  [
    'a range beyond the file had no words',
    { path: '/files/bucket-1/media/a.png', headers: { range: 'bytes=9-2' } },
    416,
  ],
];

describe('every operation of the document, with whatever is sent to it', { timeout: 3_600_000 }, () => {
  let world: FuzzWorld;
  let api: ApiDescription;
  let values: SchemaValues;
  const slowest = { ms: 0, what: '' };
  const statuses = new Map<string, number>();

  before(async () => {
    world = await openFuzzWorld();
    const response = await fetch(`${world.gateway.origin}/openapi.json`);
    const document = (await response.json()) as Schema;
    api = new ApiDescription(document);
    values = new SchemaValues(document, world.hints);
  });
  after(() => world.close());

  for (const [title, request, status] of CORPUS) {
    test(`what was found before stays away: ${title}`, async () => {
      const answer = await answerTo(request);
      assert.equal(answer.status, status, answer.text);
    });
  }

  test('is answered as described, and never by a failure of ours', async (context) => {
    for (const [name, described] of api.operations) {
      const operation = operationOf(name, described);
      await context.test(name, async () => {
        for (const index of casesBelow(casesOf(CASES))) {
          const fit = FITS[index % FITS.length] ?? 'fitting';
          const random = caseOf(index, name);
          const request = requestTo(operation, values, random, fit);
          try {
            const answer = await answerTo(request);
            assertAnswer(answer, described, request);
            count(`${fit} ${answer.status}`);
          } catch (thrown) {
            throw failureOf(
              index,
              Object.assign(thrown as Error, { stack: `${(thrown as Error).message}\n${show(request)}` }),
            );
          }
        }
      });
    }
    context.diagnostic(
      [...statuses]
        .sort()
        .map(([key, times]) => `${key}: ${times}`)
        .join(', '),
    );
    context.diagnostic(`slowest: ${Math.round(slowest.ms)} ms, ${slowest.what}`);
  });

  test('has polluted nothing and left the server well', async () => {
    assert.equal(({} as Record<string, unknown>)['polluted'], undefined);
    const answer = await ask(world.gateway.origin, {
      path: '/v1/chat/completions',
      body: { model: 'acme/test-model', messages: [{ role: 'user', content: 'Hi' }] },
    });
    assert.equal(answer.status, 200, answer.text);
    assert.match(answer.text, /world/);
  });

  async function answerTo(request: Ask): Promise<Answer> {
    const before = performance.now();
    const logged = world.gateway.log.lines.length;
    const answer = await Promise.race([ask(world.gateway.origin, request), hang()]);
    const ms = performance.now() - before;
    if (ms > slowest.ms)
      Object.assign(slowest, { ms, what: `${request.method} ${request.path.slice(0, 100)} ${answer.status}` });
    const errors = world.gateway.log.lines.slice(logged).filter(({ level }) => level === 'error');
    assert.deepEqual(errors.map(reasonOf), [], 'was logged as a failure');
    return answer;
  }

  function count(key: string): void {
    statuses.set(key, (statuses.get(key) ?? 0) + 1);
  }
});

function hang(): Promise<never> {
  const stop = Promise.withResolvers<never>();
  setTimeout(() => stop.reject(new Error(`no answer within ${HANG_MS} ms`)), HANG_MS).unref();
  return stop.promise;
}

function assertAnswer({ status, headers, text }: Answer, operation: Schema, { method }: Ask): void {
  // Nobody has closed a connection here: such an answer hides what went wrong.
  assert.notEqual(status, 499, text);
  assert.ok(status < 500 || ALLOWED.has(status), `${status} ${text.slice(0, 500)}`);
  assert.doesNotMatch(text, /"code": ?"internal"/, 'an answer with a failure of ours inside');
  assert.doesNotMatch(text, /\n\s+at .*:\d+:\d+|node_modules|SQLITE_/, 'an answer that shows the inside');
  if (status === 304 || (text === '' && method === 'HEAD')) return;
  const { responses } = operation as { readonly responses: Readonly<Record<string, unknown>> };
  if (status === 302) {
    assert.ok('302' in responses, 'a redirect that nobody described');
    return;
  }
  const described = contentTypes(operation, status === 200 || status === 206 ? '200' : 'default');
  const type = (headers['content-type'] ?? '').split(';', 1)[0] ?? '';
  assert.ok(
    described.some((each) => fits(type, each)),
    `${status} has the content type '${type}', which is none of ${described}`,
  );
  if (status >= 400) assert.match(text, /"error"/, 'an error without its words');
}

function fits(type: string, described: string): boolean {
  return described.endsWith('/*') ? type.startsWith(described.slice(0, -1)) : type === described;
}

function contentTypes(operation: Schema, status: string): readonly string[] {
  const responses = operation['responses'] as Readonly<Record<string, { readonly content?: object }>>;
  return Object.keys(responses[status]?.content ?? {});
}

function operationOf(name: string, described: Schema): Operation {
  const [method = '', path = ''] = name.split(' ');
  const { content = {} } = (described['requestBody'] ?? {}) as { content?: Record<string, { schema: Schema }> };
  return {
    method,
    path,
    parameters: (described['parameters'] ?? []) as Operation['parameters'],
    bodies: Object.fromEntries(Object.entries(content).map(([type, { schema }]) => [type, schema])),
  };
}

function reasonOf({ fields, message }: { readonly fields: object; readonly message: string }): string {
  const { error } = fields as { readonly error?: unknown };
  return `${message}: ${error instanceof Error ? error.stack : JSON.stringify(fields)}`;
}

function show({ method, path, headers, body }: Ask): string {
  const text = Buffer.isBuffer(body) ? body.toString() : JSON.stringify(body);
  return `${method} ${path.slice(0, 500)} ${JSON.stringify(headers)}\n${text?.slice(0, 2_000)}`;
}
