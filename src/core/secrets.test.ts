import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { SluiceError } from './errors.ts';
import { Secrets, withoutSecrets } from './secrets.ts';

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

  test('with any of their characters percent-encoded, once or again', () => {
    const secrets = knowing('sk-key/0123+é=');
    const all = [...Buffer.from('sk-key/0123+é=')].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
    const once = encodeURIComponent('sk-key/0123+é=');
    for (const text of [all, all.toUpperCase(), once.toLowerCase(), encodeURIComponent(once), 'sk%2Dkey/0123+é=']) {
      assert.equal(secrets.mask(`100% <${text}>`), '100% <***>');
    }
    assert.equal(secrets.mask('100% of %73%6b'), '100% of %73%6b');
  });

  test('in base64, whatever stands before and behind them', () => {
    const key = 'sk-planted/key?>~0123456789';
    const secrets = knowing(key);
    for (const before of ['', ':', 'me:', 'user:', 'Bearer ']) {
      for (const behind of ['', '!', ' and more']) {
        for (const encoding of ['base64', 'base64url'] as const) {
          const text = Buffer.from(before + key + behind).toString(encoding);
          const masked = secrets.mask(`got ${text}.`);
          assert.match(masked, /^got [\w+/-]*\*\*\*[\w+/-]*=*\.$/);
          // A letter at each end belongs to a neighbour as well.
          const shown = (before + behind).length * (8 / 6) + 4;
          assert.ok(masked.length - 'got ***.'.length <= shown, `${text}: ${masked}`);
          assert.equal(secrets.mask(`got ${text.slice(0, 24)}…`).includes(text.slice(4, 20)), false);
        }
      }
    }
    // A long word that is none of them stays.
    assert.equal(secrets.mask('aGVsbG8gd29ybGQsIHRoaXMgaXMgbm8ga2V5'), 'aGVsbG8gd29ybGQsIHRoaXMgaXMgbm8ga2V5');
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

test('an error holds none in any of its words', () => {
  const key = 'sk-0123456789';
  const detail = [{ loc: ['body', key, 0], message: `has unknown fields: ${key}`, type: 'custom' }];
  const error = new SluiceError('invalid_field', `'${key}' is wrong`, { param: key, detail, quotas: [key, 'PerDay'] });
  const { message, options } = withoutSecrets(error, knowing(key));
  assert.equal(message, "'***' is wrong");
  assert.equal(options.param, '***');
  assert.deepEqual(options.quotas, ['***', 'PerDay']);
  assert.deepEqual(options.detail, [{ loc: ['body', '***', 0], message: 'has unknown fields: ***', type: 'custom' }]);
});
