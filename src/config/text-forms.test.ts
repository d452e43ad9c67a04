import assert from 'node:assert/strict';
import { test } from 'node:test';
import { suggest } from './suggest.ts';
import {
  parseBaseUrl,
  parseDatabase,
  parseHeaderName,
  parseHeaderValue,
  parseHost,
  parseKey,
  parseOrigin,
  parseProxies,
} from './text-forms.ts';

function table<T>(parse: (text: string) => T | undefined, cases: Record<string, T | undefined>): void {
  for (const [text, expected] of Object.entries(cases)) assert.equal(parse(text), expected, JSON.stringify(text));
}

test('addresses of databases', () => {
  const given = [
    'postgres://host/a',
    'postgresql://me:a%2Fword@[::1]:5433/a?sslmode=verify-full',
    'postgres:///a?host=/run/postgresql',
  ];
  table(parseDatabase, Object.fromEntries(given.map((text) => [text, text])));
  table(parseDatabase, {
    ' postgres://host/a ': 'postgres://host/a',
    'postgres://host': undefined,
    'postgres://host/': undefined,
    'postgres://host/a/b': undefined,
    'postgres://host/a#b': undefined,
    'postgres://me:a/word@host/a': undefined,
    'mysql://host/a': undefined,
    'host/a': undefined,
    '': undefined,
  });
});

test('base addresses', () => {
  table(parseBaseUrl, {
    'http://127.0.0.1:18080/v1': 'http://127.0.0.1:18080/v1',
    'https://Host.example/v1///': 'https://host.example/v1',
    'https://host.example': 'https://host.example',
    'https://user:word@host.example/v1': undefined,
    'https://host.example/v1?x=1': undefined,
    'https://host.example/v1#x': undefined,
    'https://host.example/v1/chat/completions': undefined,
    'ftp://host.example': undefined,
    'file:///etc/passwd': undefined,
    'host.example/v1': undefined,
    '': undefined,
  });
});

test('origins', () => {
  table(parseOrigin, {
    'https://chat.example.org': 'https://chat.example.org',
    'http://10.0.0.5:3000/': 'http://10.0.0.5:3000',
    'https://chat.example.org/path': undefined,
    'https://user@chat.example.org': undefined,
    '*': undefined,
    null: undefined,
    'chat.example.org': undefined,
  });
});

test('hosts', () => {
  table(parseHost, {
    'Sluice.Example.org': 'sluice.example.org',
    '10.0.0.5': '10.0.0.5',
    '::1': '[::1]',
    '[::1]': '[::1]',
    'host:80': undefined,
    'http://host': undefined,
    'user@host': undefined,
    '*': undefined,
    '': undefined,
  });
});

test('proxies', () => {
  table(parseProxies, {
    loopback: 'loopback',
    ' UniqueLocal ': 'uniquelocal',
    '10.0.0.5': '10.0.0.5',
    '10.0.0.0/8': '10.0.0.0/8',
    '2001:DB8::/32': '2001:db8::/32',
    '::1': '::1',
    '10.0.0.0/33': undefined,
    // Everybody could say to be anybody.
    '0.0.0.0/0': undefined,
    '::/0': undefined,
    '10.0.0.0/8/8': undefined,
    '1.2/8': undefined,
    '10.0.0.5:80': undefined,
    'proxy.example.org': undefined,
    '*': undefined,
    '': undefined,
  });
});

test('keys and headers', () => {
  table(parseKey, {
    'sk-abc/+=': 'sk-abc/+=',
    ' padded ': 'padded',
    'two words': undefined,
    zwölf: undefined,
    '': undefined,
  });
  table(parseHeaderName, {
    'X-Title': 'x-title',
    Host: undefined,
    'content-length': undefined,
    'a b': undefined,
    '': undefined,
  });
  table(parseHeaderValue, { 'My app': 'My app', 'a\r\nb: c': undefined, '': undefined });
});

test('a slip is recognised, another word is not', () => {
  const words = ['providers', 'aliases', 'limits', 'bind'];
  assert.equal(suggest('provders', words), 'providers');
  assert.equal(suggest('limtis', words), 'limits');
  assert.equal(suggest('Bind', words), 'bind');
  assert.equal(suggest('colour', words), undefined);
  assert.equal(suggest('x', words), undefined);
});
