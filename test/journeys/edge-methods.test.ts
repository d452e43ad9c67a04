import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { talk } from '../support/raw-http.ts';
import { assertError, codeInForm, type ErrorForm, HI, openWorld, type World } from './edge-world.ts';

/** Methods that Node's parser knows and no path of ours answers, but for those of the first line. */
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];
const FOREIGN = ['TRACE', 'PROPFIND', 'LOCK', 'SEARCH', 'PURGE', 'M-SEARCH', 'REPORT', 'MKCOL', 'LINK', 'QUERY'];

const PATHS: Readonly<Record<string, readonly string[]>> = {
  '/': ['GET', 'HEAD'],
  '/docs': ['GET', 'HEAD'],
  '/docs/': ['GET', 'HEAD'],
  '/openapi.json': ['GET', 'HEAD'],
  '/favicon.ico': ['GET', 'HEAD'],
  '/v1/chat/completions': ['POST'],
  '/api/mock/chat/completions': ['POST'],
  '/api/mock/some-id/chat/completions': ['POST'],
  '/v1/models': ['GET', 'HEAD'],
  '/v1/models/test-model': ['GET', 'HEAD', 'POST'],
  '/api/mock/models': ['GET', 'HEAD'],
  '/v1/providers': ['GET', 'HEAD'],
  '/v1/providers/mock': ['GET', 'HEAD'],
  '/backend-api/v2/conversation': ['POST'],
  '/backend-api/v2/create': ['GET'],
  '/backend-api/v2/models': ['GET', 'HEAD'],
  '/backend-api/v2/models/mock': ['GET', 'HEAD'],
  '/backend-api/v2/providers': ['GET', 'HEAD'],
  '/backend-api/v2/version': ['GET', 'HEAD'],
};

describe('methods', () => {
  let world: World;
  before(async () => {
    world = await openWorld();
  });
  after(() => world.close());

  const BODIES: readonly { readonly headers: Record<string, string>; readonly body?: string }[] = [
    { headers: {} },
    { headers: { 'content-type': 'application/json' }, body: JSON.stringify(HI) },
    { headers: { 'content-type': 'application/json' }, body: '{' },
    { headers: { 'content-type': 'text/plain' }, body: 'Hi' },
    { headers: { 'content-type': 'multipart/form-data; boundary=x' }, body: '--x--\r\n' },
  ];

  test('every other method of every path: 405, with those that there are', async () => {
    for (const [path, allowed] of Object.entries(PATHS)) {
      for (const method of [...METHODS, ...FOREIGN]) {
        if (allowed.includes(method)) continue;
        for (const { headers, body } of method === 'POST' || method === 'PUT' ? BODIES : BODIES.slice(0, 1)) {
          const answer = await world.ask({
            method,
            path,
            headers: { ...headers, 'x-canary': 'never-echoed' },
            ...(body === undefined ? {} : { body }),
          });
          const hint = `${method} ${path}`;
          if (method === 'HEAD') assert.equal(answer.status, 405, hint);
          else assert.equal(assertError(answer, 405, hint).code, 'method_not_allowed', hint);
          assert.deepEqual(answer.headers.allow?.split(', ').sort(), [...allowed].sort(), hint);
          assert.ok(!answer.text.includes('never-echoed'), hint);
        }
      }
    }
    assert.equal(world.upstream.chats.length, 0);
  });

  test('and of every path that the documents list', async () => {
    const { json } = await world.ask({ path: '/openapi.json' });
    const { paths } = json as { paths: Record<string, Record<string, { tags?: readonly string[] }>> };
    assert.ok(Object.keys(paths).length > 10);
    for (const template of Object.keys(paths)) {
      const path = template.replaceAll(/\{\w+\}/g, 'x');
      // `responses/input_tokens` is also what `responses/{id}` says of an answer of that name.
      const fitting = Object.entries(paths).filter(([other]) => patternOf(other).test(path));
      const declared = fitting.flatMap(([, operations]) =>
        Object.keys(operations).map((method) => method.toUpperCase()),
      );
      const form = FORMS.find((each) => Object.values(paths[template] ?? {})[0]?.tags?.includes(each)) ?? 'OpenAI';
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND']) {
        if (declared.includes(method)) continue;
        const answer = await world.ask({ method, path });
        assert.equal(codeInForm(form, answer, 405, `${method} ${path}`), 'method_not_allowed');
        const allow = answer.headers.allow?.split(', ') ?? [];
        for (const each of declared) assert.ok(allow.includes(each), `${method} ${path}: ${allow}`);
      }
    }
  });

  test('every method of a path that does not exist: 404', async () => {
    for (const path of ['/v1/nothing', '/v1/chat', '/nothing', '/docs/nothing', '/api/mock/nothing', '/a/b/c/d/e']) {
      for (const method of [...METHODS, ...FOREIGN]) {
        for (const { headers, body } of method === 'POST' ? BODIES : BODIES.slice(0, 1)) {
          const answer = await world.ask({ method, path, headers, ...(body === undefined ? {} : { body }) });
          if (method === 'HEAD') assert.equal(answer.status, 404, path);
          else assert.equal(assertError(answer, 404, `${method} ${path}`).code, 'not_found', path);
        }
      }
    }
  });

  test('what nobody answers is told in the form that the path or a header asks for', async () => {
    const anthropic = { 'anthropic-version': '2023-06-01' };
    const google = { 'x-goog-api-key': 'any' };
    for (const [form, method, path, status, headers] of [
      ['Anthropic Messages', 'POST', '/v1/messages/batches', 404, {}],
      ['Anthropic Messages', 'GET', '/v1/messages', 405, {}],
      ['Anthropic Messages', 'POST', '/api/mock/v1/messages/batches', 404, {}],
      ['Anthropic Messages', 'GET', '/api/mock/messages/nothing', 404, {}],
      ['Anthropic Messages', 'POST', '/v1/v1/messages', 404, {}],
      ['Anthropic Messages', 'GET', '/v1/organizations/me', 404, anthropic],
      ['Anthropic Messages', 'DELETE', '/v1/models', 405, anthropic],
      ['Anthropic Messages', 'GET', '/v1/skills/%zz', 400, anthropic],
      ['Gemini API', 'POST', '/v1beta/cachedContents', 404, {}],
      ['Gemini API', 'DELETE', '/v1beta/models', 405, {}],
      ['Gemini API', 'GET', '/upload/v1beta/files', 405, {}],
      ['Gemini API', 'POST', '/v1beta/models/%zz:generateContent', 400, {}],
      ['Gemini API', 'GET', '/v1/v1beta/models', 404, {}],
      ['Gemini API', 'POST', '/v1/v1/models/x:generateContent', 404, {}],
      ['Gemini API', 'POST', '/v1/models/%zz:generateContent', 400, {}],
      ['Gemini API', 'GET', '/v1/tunedModels', 404, google],
      ['Gemini API', 'PUT', '/v1/files', 405, google],
      ['Ollama API', 'GET', '/api/chat', 405, {}],
      ['Ollama API', 'POST', '/api/blobs/sha256:29fdb92e57cf0827', 404, {}],
      ['OpenAI', 'GET', '/v1/chat/completions', 405, anthropic],
      ['OpenAI', 'PUT', '/v1/files', 405, {}],
      ['OpenAI', 'GET', '/v1/messagesx', 404, {}],
      ['OpenAI', 'GET', '/api/mock/nothing', 404, {}],
      ['OpenAI', 'GET', '/v1/%zz', 400, {}],
      ['OpenAI', 'POST', '/v1/v1/models/%zz:generateContent', 400, {}],
      ['OpenAI', 'GET', '/backend-api/v2/nothing', 404, {}],
    ] satisfies readonly (readonly [ErrorForm, string, string, number, Record<string, string>])[]) {
      const code = { 400: 'invalid_request', 404: 'not_found', 405: 'method_not_allowed' }[status];
      const answer = await world.ask({ method, path, headers });
      assert.equal(codeInForm(form, answer, status, `${method} ${path} ${answer.text}`), code, path);
      const foreign = await world.ask({ method, path, headers: { ...headers, host: 'evil.example' } });
      assert.equal(codeInForm(form, foreign, 403, `${method} ${path} ${foreign.text}`), 'forbidden', path);
    }
  });

  test('what follows a question mark is no part of the path, and is not told again', async () => {
    for (const query of ['?', '?x=1', '?key=never-echoed', '?/v1/nothing', '?x=/a?b']) {
      for (const [path, allowed] of Object.entries(PATHS)) {
        const method = allowed.includes('POST') ? 'PUT' : 'POST';
        const answer = await world.ask({ method, path: `${path}${query}` });
        assert.equal(assertError(answer, 405, `${method} ${path}${query}`).code, 'method_not_allowed');
        assert.deepEqual(answer.headers.allow?.split(', ').sort(), [...allowed].sort(), path);
      }
      for (const [path, meant] of [
        ['/v1/nothing', undefined],
        ['/v1/v1/models', '/v1/models'],
        ['/providers/mock', '/v1/providers/mock'],
        ['/v1//models', '/v1/models'],
      ]) {
        const { message } = assertError(await world.ask({ path: `${path}${query}` }), 404, `${path}${query}`);
        const hint = meant === undefined ? '' : `, but at ${meant}: look at the base URL`;
        assert.ok(message.startsWith(`There is nothing at GET ${path}${hint}.`), message);
      }
    }
  });

  test('no method at all', async () => {
    for (const line of ['FOO / HTTP/1.1', 'get / HTTP/1.1', '/ HTTP/1.1', 'GET HTTP/1.1', 'GET / HTTP/9.9']) {
      const { text } = await talk(world.gateway.origin, `${line}\r\nhost: localhost\r\n\r\n`);
      assert.match(text, /^(HTTP\/1\.1 4\d\d [\s\S]*"code"|$)/, line);
    }
    const { text } = await talk(world.gateway.origin, 'CONNECT 127.0.0.1:80 HTTP/1.1\r\nhost: localhost\r\n\r\n');
    assert.doesNotMatch(text, / 200 /);
    await world.isWell();
  });
});

const FORMS = ['Anthropic Messages', 'Gemini API', 'Ollama API'] as const;

/** The paths that a template of the documents stands for. */
function patternOf(template: string): RegExp {
  return new RegExp(`^${template.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`);
}
