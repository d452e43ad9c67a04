import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { hostAndPort, isLoopback, parseBind } from './bind.ts';

describe('bind', () => {
  const good: [string, string, number][] = [
    ['127.0.0.1:1337', '127.0.0.1', 1337],
    ['[::1]:1337', '::1', 1337],
    ['[::]:80', '::', 80],
    [':1337', '0.0.0.0', 1337],
    ['1337', '127.0.0.1', 1337],
    ['0', '127.0.0.1', 0],
    ['LocalHost:8080', 'localhost', 8080],
    ['sluice.example.org:443', 'sluice.example.org', 443],
    ['a.b:1', 'a.b', 1],
    ['node1:1', 'node1', 1],
    ['1node:1', '1node', 1],
    [`${'a.'.repeat(126)}a:1`, `${'a.'.repeat(126)}a`, 1],
    [' 0.0.0.0:65535 ', '0.0.0.0', 65_535],
  ];
  for (const [text, host, port] of good) {
    test(`${text} is an address`, () => assert.deepEqual(parseBind(text), { host, port }));
  }

  const bad = [
    ...['', 'localhost', '127.0.0.1', '::1', '::1:1337', '[::1]', '[127.0.0.1]:80', 'host:', 'host:x', 'host:65536'],
    ...[
      'http://127.0.0.1:80',
      '127.0.0.1:80/',
      '256.0.0.1:80',
      '127.1:80',
      'a b:80',
      '-a:80',
      '-1',
      '1.5',
      ':',
      '*:80',
      'a!:80',
      `${'a.'.repeat(126)}aa:80`,
    ],
  ];
  for (const text of bad) {
    test(`${JSON.stringify(text)} is none`, () => assert.equal(parseBind(text), undefined));
  }

  test('loopback is told from the rest', () => {
    for (const host of ['localhost', '127.0.0.1', '127.255.255.255', '::1', '::ffff:127.0.0.1'])
      assert.ok(isLoopback(host), host);
    for (const host of ['0.0.0.0', '::', '10.0.0.1', 'localhost.example.org', '::2', '126.255.255.255', '128.0.0.1']) {
      assert.ok(!isLoopback(host), host);
    }
  });

  test('IPv6 gets brackets in addresses', () => {
    assert.equal(hostAndPort('::1', 80), '[::1]:80');
    assert.equal(hostAndPort('localhost', 80), 'localhost:80');
  });
});
