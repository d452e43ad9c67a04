import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Secrets } from './secrets.ts';

function knowing(...known: readonly string[]): Secrets {
  const secrets = new Secrets();
  secrets.use(known);
  return secrets;
}

describe('masking secrets', () => {
  test('every one of them, everywhere, the longest first', () => {
    const secrets = knowing('sk-short', 'sk-short-and-longer');
    assert.equal(secrets.mask('sk-short sk-short-and-longer xsk-shortx'), '*** *** x***x');
    assert.equal(secrets.mask('nothing to hide'), 'nothing to hide');
  });

  test('as they stand in JSON and in addresses too', () => {
    const secrets = knowing('a"b\\c/d?e=f');
    assert.equal(secrets.mask(JSON.stringify({ key: 'a"b\\c/d?e=f' })), '{"key":"***"}');
    assert.equal(secrets.mask(`/v1/${encodeURIComponent('a"b\\c/d?e=f')}/x`), '/v1/***/x');
  });

  test('even where one is no text that an address could hold', () => {
    assert.equal(knowing('half-\ud83d-of-a-pair').mask('key: half-\ud83d-of-a-pair'), 'key: ***');
  });

  test('also those on which a text was cut', () => {
    const secrets = knowing('sk-0123456789');
    assert.equal(secrets.mask('key: sk-01234567…'), 'key: ***…');
    for (let length = 6; length < 'sk-0123456789'.length; length += 1)
      assert.equal(secrets.mask(`key: ${'sk-0123456789'.slice(0, length)}…`), 'key: ***…');
    // So little of it tells nothing.
    assert.equal(secrets.mask('key: sk-01…'), 'key: sk-01…');
    assert.equal(secrets.mask('key: sk-01234567'), 'key: sk-01234567');
  });

  test('but no words that are too short to be secrets', () => {
    assert.equal(knowing('the', 'these').mask('these are the words'), 'these are the words');
    assert.equal(knowing('secret').mask('the secret is out'), 'the *** is out');
  });

  test('the list is replaced as a whole', () => {
    const secrets = knowing('first-secret');
    secrets.use(['second-secret', undefined]);
    assert.equal(secrets.mask('first-secret second-secret'), 'first-secret ***');
  });
});
