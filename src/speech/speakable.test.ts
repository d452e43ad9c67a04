import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { speakable } from './speakable.ts';

describe('what a voice for English can read', () => {
  for (const [given, expected] of [
    ['Hello there.', 'Hello there.'],
    ['“Don’t,” she said – twice…', '"Don\'t," she said, twice.'],
    ['naïve café, Ærø, straße', 'naive cafe, Aero, strasse'],
    ['10 € at 20°', '10 euros at 20 degrees'],
    ['**bold** and `code`', 'bold and code'],
    ['# Title\n\n- one\n- two', 'Title\n- one\n- two'],
    ['| a | b |\n|---|:-:|\n| c | d |', 'a b\nc d'],
    ['one\n---\ntwo -- three', 'one\ntwo, three'],
    ['wait...... what?!?!?!', 'wait. what?!?!?!'],
    ['-------', ''],
    ['a\u0000b\u001b[31mc\u202ed', 'a b 31mc d'],
    ['你好 😀', ''],
    ['fi\ufb01 ＡＢＣ', 'fifi ABC'],
    ['...!!!???', ''],
    ['', ''],
  ] as const) {
    test(JSON.stringify(given), () => assert.equal(speakable(given), expected));
  }

  test('only printable ASCII and line ends remain of anything', () => {
    const everything = Array.from({ length: 0x3000 }, (_, code) => String.fromCharCode(code)).join('');
    assert.match(speakable(everything), /^[\x20-\x7e\n]+$/);
  });
});
