import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FastifyRequest } from 'fastify';
import { printable, userOf } from './user.ts';

const asking = (headers: Readonly<Record<string, string>>) => ({ headers }) as unknown as FastifyRequest;

test('a label is text on one line, of 256 characters at most', () => {
  assert.equal(printable('ann'), 'ann');
  assert.equal(printable(' \t ann\r\n\0of\x7f\x9fsales \n'), 'ann of sales');
  assert.equal(printable('é世🙂'), 'é世🙂');
  assert.equal(printable('a'.repeat(256)), 'a'.repeat(256));
  assert.equal(printable('a'.repeat(257)), 'a'.repeat(256));
  // Where the cut goes through a letter, all of it goes.
  assert.equal(printable(`${'a'.repeat(255)}🙂`), 'a'.repeat(255));
  assert.equal(printable(`\ud800a\udfffb`), 'ab');
  for (const none of ['', '  ', '\0\n', '\ud800', undefined, null, 1, ['ann'], { name: 'ann' }])
    assert.equal(printable(none), undefined);
});

test('the header wins over the body, whichever way it is written', () => {
  assert.equal(userOf(asking({ 'x-user': 'ann' }), 'bob'), 'ann');
  assert.equal(userOf(asking({ x_user: 'ann' }), 'bob'), 'ann');
  assert.equal(userOf(asking({ 'x-user': 'ann', x_user: 'eve' })), 'ann');
  assert.equal(userOf(asking({ 'x-user': ' ' }), 'bob'), 'bob');
  assert.equal(userOf(asking({}), 'bob'), 'bob');
  for (const none of [undefined, '', 7]) assert.equal(userOf(asking({}), none), 'unknown');
});

test('letters of the header are what the client wrote, in UTF-8 or Latin-1', () => {
  const sent = (bytes: Buffer): string => userOf(asking({ 'x-user': bytes.toString('latin1') }));
  assert.equal(sent(Buffer.from('Zoë 世界')), 'Zoë 世界');
  assert.equal(sent(Buffer.from('Zoë', 'latin1')), 'Zoë');
  assert.equal(sent(Buffer.from('a\x80', 'latin1')), 'a');
  assert.equal(sent(Buffer.from('a\xff', 'latin1')), 'aÿ');
});
