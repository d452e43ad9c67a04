import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { codeOf } from './error-code.ts';

const withCode = (code: unknown, options?: ErrorOptions): Error => Object.assign(new Error('no', options), { code });
const because = (cause: unknown): Error => new Error('no', { cause });

const ring = because(undefined);
ring.cause = because(ring);

const several = new AggregateError([]);
several.errors.push(several);

describe('the code of what was thrown', () => {
  for (const [what, thrown, expected] of [
    ['its own', withCode('EPIPE', { cause: withCode('ECONNRESET') }), 'EPIPE'],
    ['that of its cause', because(because(withCode('ECONNRESET'))), 'ECONNRESET'],
    ['that of its cause where its own is a number', withCode(20, { cause: withCode('EPIPE') }), 'EPIPE'],
    ['that of the first of several', new AggregateError([withCode('ECONNREFUSED'), withCode('EPIPE')]), 'ECONNREFUSED'],
    [
      'that of several itself',
      Object.assign(new AggregateError([withCode('EPIPE')]), { code: 'ETIMEDOUT' }),
      'ETIMEDOUT',
    ],
    ['that of several in a cause', because(new AggregateError([because(withCode('ENOTFOUND'))])), 'ENOTFOUND'],
    ['none where the cause is too far away', because(because(because(because(withCode('EPIPE'))))), ''],
    ['none where causes lead back to where they began', ring, ''],
    ['none of several that hold themselves', several, ''],
    ['that of the cause of an empty list', new AggregateError([], 'no', { cause: withCode('EPIPE') }), 'EPIPE'],
    ['none of an error without', new Error('no'), ''],
    ['none of what is no error', { code: 'EPIPE' }, ''],
  ] as const)
    test(`is ${what}`, () => assert.equal(codeOf(thrown), expected));
});
