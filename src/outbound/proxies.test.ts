import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resolveProxy } from '../config/proxy.ts';
import { proxyTo } from './proxies.ts';

function leads(address: string, environment: Record<string, string>): string | undefined {
  const problems: string[] = [];
  const proxies = resolveProxy(environment, problems);
  assert.deepEqual(problems, []);
  return proxyTo(new URL(address), proxies)?.hostname;
}

const BOTH = { HTTPS_PROXY: 'http://secure.example:3128', HTTP_PROXY: 'plain.example:3129' };

test('each scheme has its proxy, and this machine none', () => {
  assert.equal(leads('https://api.example.org/v1', BOTH), 'secure.example');
  assert.equal(leads('http://10.1.2.3:8000', BOTH), 'plain.example');
  assert.equal(leads('http://api.example.org', { HTTPS_PROXY: BOTH.HTTPS_PROXY }), undefined);
  assert.equal(leads('https://api.example.org', {}), undefined);
  for (const host of ['localhost', 'a.localhost', 'localhost.', '127.0.0.1', '127.9.9.9', '[::1]'])
    assert.equal(leads(`http://${host}:11434/v1`, BOTH), undefined, host);
});

test('NO_PROXY names hosts, those below them, addresses, ranges and ports', () => {
  const rows: [entries: string, address: string, isDirect: boolean][] = [
    ['*', 'https://api.example.org', true],
    ['example.org', 'https://example.org', true],
    ['example.org', 'https://api.example.org', true],
    ['example.org', 'https://API.Example.ORG.', true],
    ['EXAMPLE.org.', 'https://api.example.org', true],
    ['.example.org', 'https://api.example.org', true],
    ['*.example.org', 'https://api.example.org', true],
    ['example.org', 'https://notexample.org', false],
    ['api.example.org', 'https://example.org', false],
    ['other.org, example.org', 'https://example.org', true],
    ['other.org example.org', 'https://example.org', true],
    ['example.org:8443', 'https://example.org:8443', true],
    ['example.org:443', 'https://example.org', true],
    ['example.org:80', 'http://example.org', true],
    ['example.org:8443', 'https://example.org', false],
    ['10.0.0.0/8', 'http://10.200.1.1', true],
    ['10.0.0.0/8', 'http://[::ffff:10.0.0.1]', true],
    ['10.0.0.0/8', 'http://11.0.0.1', false],
    ['10.0.0.0/8', 'http://10.example.org', false],
    ['10.0.0.1', 'http://10.0.0.1:8000', true],
    ['10.0.0.1:8000', 'http://10.0.0.1:8000', true],
    ['10.0.0.1:8001', 'http://10.0.0.1:8000', false],
    ['0.0.1', 'http://10.0.0.1', false],
    ['2001:db8::/32', 'https://[2001:db8::1]', true],
    ['2001:db8::1', 'https://[2001:db8:0:0::1]', true],
    ['[2001:db8::1]:443', 'https://[2001:db8::1]', true],
    ['2001:db8::/32', 'https://10.0.0.1', false],
    ['::ffff:10.0.0.1', 'http://10.0.0.1', true],
    ['.', 'https://example.org', false],
    [',', 'https://example.org', false],
  ];
  for (const [entries, address, isDirect] of rows)
    assert.equal(leads(address, { ...BOTH, NO_PROXY: entries }) === undefined, isDirect, `${entries} ${address}`);
});
