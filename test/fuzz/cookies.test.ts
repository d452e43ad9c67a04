import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseCookies } from '../../src/cookies/parse.ts';
import { property } from './cases.ts';
import type { Random } from './random.ts';
import { assertRefusal, textOf } from './refusals.ts';
import { anything, hostile } from './schema-values.ts';

describe('files of cookies', () => {
  test('are cookies that can stand in a header, or refused without a word of theirs', async () => {
    await property(1_500, (random) => {
      const text = cookieFile(random);
      try {
        for (const { domain, name, value, path: at } of parseCookies(text).cookies) {
          assert.match(domain, /^[a-z0-9.-]{1,253}$/);
          assert.match(`${name}=${value}`, /^[\x21-\x7e][\x20-\x7e]*$/);
          assert.doesNotMatch(name, /[=;, ]/);
          assert.doesNotMatch(value + at, /;/);
          assert.ok(at.startsWith('/'));
        }
      } catch (error) {
        assertRefusal(error);
        assert.doesNotMatch((error as Error).message, /s3cret/);
      }
    });
  });
});

function cookieFile(random: Random): string {
  const word = (): unknown =>
    random.pick<unknown>(['a.example', '.b.example', 'sid', 's3cret', '/', random.text(3), hostile(random)]);
  const entry = (): object => ({
    domain: word(),
    name: word(),
    value: random.pick(['s3cret', word()]),
    path: word(),
    secure: word(),
    expirationDate: word(),
  });
  switch (random.below(5)) {
    case 0:
      return JSON.stringify(random.many(random.below(4), entry)) ?? '';
    case 1:
      return JSON.stringify({
        log: {
          entries: random.many(2, () => ({
            request: {
              url: random.pick(['https://a.example/', word()]),
              cookies: random.pick<unknown>([[entry()], [null], word()]),
            },
          })),
        },
      });
    case 2:
      return random
        .many(random.below(4), () =>
          random.many(random.pick([7, 7, 6, 8]), () => textOf(word()).replace(/[\t\n]/g, '')).join('\t'),
        )
        .join(random.pick(['\n', '\r\n']));
    case 3:
      return JSON.stringify(anything(random)) ?? '';
    default:
      return `${random.pick(['[', '{', '\ufeff[', '#HttpOnly_', ''])}s3cret${random.text(20)}`;
  }
}
