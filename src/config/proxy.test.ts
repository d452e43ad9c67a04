import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadYaml, temporaryFolder } from '../../test/support/config-folder.ts';
import { resolveProxy } from './proxy.ts';
import { secretsOf } from './secrets.ts';

test('addresses of proxies, as other programs read them', () => {
  const rows = {
    'http://proxy.example:3128': { hostname: 'proxy.example', port: 3128, isSecure: false },
    'http://proxy.example': { hostname: 'proxy.example', port: 80, isSecure: false },
    'https://proxy.example/': { hostname: 'proxy.example', port: 443, isSecure: true },
    'proxy.example:3128': { hostname: 'proxy.example', port: 3128, isSecure: false },
    'http://[::1]:3128': { hostname: '::1', port: 3128, isSecure: false },
    'http://me:p%40ss%3A%2F@proxy.example:1': {
      hostname: 'proxy.example',
      port: 1,
      isSecure: false,
      credentials: 'me:p@ss:/',
    },
    'http://me:100%@proxy.example:1': {
      hostname: 'proxy.example',
      port: 1,
      isSecure: false,
      credentials: 'me:100%',
    },
  };
  for (const [text, address] of Object.entries(rows)) {
    const { https } = resolveProxy({ HTTPS_PROXY: text }, []);
    assert.deepEqual(https, { ...address, variable: 'HTTPS_PROXY' }, text);
  }
});

test('lower case counts more, and what is empty does not count', () => {
  const environment = {
    https_proxy: 'http://a.example',
    HTTPS_PROXY: 'http://b.example',
    http_proxy: ' ',
    no_proxy: '',
  };
  const { https, http, direct } = resolveProxy(
    { ...environment, HTTP_PROXY: 'http://c.example', NO_PROXY: ' D.example, ,' },
    [],
  );
  assert.deepEqual([https?.hostname, https?.variable], ['a.example', 'https_proxy']);
  assert.deepEqual([http?.hostname, http?.variable], ['c.example', 'HTTP_PROXY']);
  assert.deepEqual(direct, ['d.example']);
});

test('what is no proxy is an error that names the variable and shows no password', async (context) => {
  for (const text of ['socks5://me:secret@proxy.example:1080', 'http://', 'http://a b', 'http://x:99999']) {
    await assert.rejects(
      loadYaml(temporaryFolder(context), '', { environment: { https_proxy: text } }),
      (error: Error) =>
        /^https_proxy: .*http:\/\/proxy\.example\.org:3128/m.test(error.message) && !error.message.includes('secret'),
      text,
    );
  }
});

test('the password is one of the secrets', async (context) => {
  const environment = { HTTPS_PROXY: 'http://me:hunter22@proxy.example:3128' };
  const config = await loadYaml(temporaryFolder(context), '', { environment });
  assert.ok(secretsOf(config).includes('hunter22'));
});
