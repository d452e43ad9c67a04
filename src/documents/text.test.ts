import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { Refusal } from './conversion.ts';
import { decodeText, decodeTextInTurns } from './text.ts';

const BINARY = { name: 'Refusal', message: 'is not text, or not in UTF-8, UTF-16 or Windows-1252' };

/** Bytes behind a declaration. */
const said = (declaration: string, bytes: readonly number[]): Buffer =>
  Buffer.concat([Buffer.from(declaration), Buffer.from(bytes)]);

describe('text is decoded', () => {
  const cases: readonly (readonly [what: string, bytes: Uint8Array, text: string])[] = [
    ['UTF-8', Buffer.from('Zürich 東京 🚢'), 'Zürich 東京 🚢'],
    ['UTF-8 with its mark', Buffer.from('\ufeffa'), 'a'],
    ['UTF-16, little end first', Buffer.from('\ufeffZürich 東', 'utf16le'), 'Zürich 東'],
    ['UTF-16, big end first', Buffer.from('\ufeffZürich 東', 'utf16le').swap16(), 'Zürich 東'],
    ['latin-1', Buffer.from('Zürich', 'latin1'), 'Zürich'],
    ['windows-1252', Buffer.from([0x93, 0x80, 0x94]), '“€”'],
    ['colours of a terminal', Buffer.from('\x1b[31mred\x1b[0m\b\f\r\n'), '\x1b[31mred\x1b[0m\b\f\r\n'],
    ['ISO-2022-JP', Buffer.from('It is \x1b$BF|K\\\x1b(B.\n'), 'It is 日本.\n'],
    ['ISO-2022-JP with its older set of characters', Buffer.from('\x1b$@F|K\\\x1b(B\n'), '日本\n'],
    ['HTML in ISO-2022-JP', said('<meta charset="iso-2022-jp"><p>', [0x1b, 0x24, 0x42, 0x46, 0x7c]), '日'],
    ['what only begins like ISO-2022-JP', Buffer.from('\x1b[1m\x1b$B'), '\x1b[1m\x1b$B'],
    ['one odd byte in many', Buffer.from(`${'a'.repeat(300)}\x01`), `${'a'.repeat(300)}\x01`],
    ['nothing', Buffer.alloc(0), ''],
    ['HTML in Shift-JIS', said('<meta charset="Shift_JIS"><p>', [0x93, 0xfa, 0x96, 0x7b]), '日本'],
    ['HTML in KOI8-R', said('<META content="text/html; charset=koi8-r"><p>', [0xcd, 0xc9, 0xd2]), 'мир'],
    ['XML in windows-1251', said("<?xml version='1.0' encoding='cp1251'?>", [0xec, 0xe8, 0xf0]), 'мир'],
    ['what says it is something that it is not', said('<meta charset="koi8-r">', [0xc3, 0xbc]), 'ü'],
    ['what says it is in UTF-8, and is not', said('<meta charset="utf-8">', [0xfc]), 'ü'],
    ['what says nothing that anybody knows', said('<meta charset="klingon">', [0xfc]), 'ü'],
  ];
  for (const [what, bytes, text] of cases)
    test(what, () => assert.equal(decodeText(bytes).replace(/^(<[^>]*>)+/, ''), text));
});

describe('what is no text is refused', () => {
  const cases: readonly (readonly [what: string, bytes: Uint8Array])[] = [
    ['a zero', Buffer.from('a\0b')],
    ['a zero in UTF-16', Buffer.from('\ufeffa\0b', 'utf16le')],
    ['half a character in UTF-16', Buffer.from([0xff, 0xfe, 0x61])],
    ['UTF-16 without its mark', Buffer.from('text', 'utf16le')],
    ['control characters', Buffer.from([1, 2, 3, 4])],
    ['bytes without a meaning', Buffer.from([0x61, 0x81, 0xff])],
    ['a PNG', Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'latin1')],
  ];
  for (const [what, bytes] of cases) test(what, () => assert.throws(() => decodeText(bytes), BINARY));
});

test('characters on the border of two steps stay whole, with and without turns', async () => {
  // Three bytes each, so that the step of half a megabyte ends inside one.
  const text = '東'.repeat(500_000);
  assert.equal(decodeText(Buffer.from(text)), text);
  assert.equal(await decodeTextInTurns(Buffer.from(text)), text);
});

test('others have their turn while a long text is decoded', async () => {
  let turns = 0;
  const timer = setInterval(() => {
    turns += 1;
  }, 0);
  await decodeTextInTurns(Buffer.alloc(20_000_000, 'a'));
  clearInterval(timer);
  assert.ok(turns > 0);
});

test('any text comes back as it was, any bytes are text or refused', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), (text) => {
      fc.pre([...text].every((each) => each >= ' ' && each !== '\x7f' && each !== '\ufeff'));
      assert.equal(decodeText(Buffer.from(text)), text);
    }),
  );
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      try {
        assert.ok(!decodeText(bytes).includes('\0'));
      } catch (error) {
        assert.ok(error instanceof Refusal);
      }
    }),
  );
});
