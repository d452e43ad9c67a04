import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { cleanName, freeName } from './names.ts';

describe('cleanName', () => {
  const cases: readonly (readonly [string, string | undefined])[] = [
    ['report.pdf', 'report.pdf'],
    ['My report (final).PDF', 'My_report_final_.PDF'],
    ['../../etc/passwd', 'passwd'],
    ['C:\\Users\\me\\a.txt', 'a.txt'],
    ['%2e%2e%2fsecret.txt', 'secret.txt'],
    ['Übung 3.docx', 'Übung_3.docx'],
    ['Cafe\u0301.txt', 'Café.txt'],
    ['हिन्दी रिपोर्ट.pdf', 'हिन्दी_रिपोर्ट.pdf'],
    ['รายงานประจำปี.docx', 'รายงานประจำปี.docx'],
    ['a \u0301 b.txt', 'a_b.txt'],
    ['\u0301\u0301.txt', 'file.txt'],
    ['❤\ufe0f love.txt', 'love.txt'],
    ['a\u0000b\r\n.txt', 'a_b_.txt'],
    ['.hidden', 'hidden'],
    ['🎵.mp3', 'file.mp3'],
    ['___.PDF', 'file.PDF'],
    ['-.-.png', 'file.png'],
    ['...png', 'png'],
    ['?.!', undefined],
    ['---', undefined],
    ['', undefined],
    ['..', undefined],
    ['%', undefined],
    ['CON', undefined],
    [`${'x'.repeat(300)}.pdf`, `${'x'.repeat(96)}.pdf`],
    [`x${'ü'.repeat(300)}.pdf`, `x${'ü'.repeat(47)}.pdf`],
  ];
  for (const [given, expected] of cases) {
    test(JSON.stringify(given.slice(0, 40)), () => assert.equal(cleanName(given), expected));
  }

  test('any name becomes one that is safe and stays as it is when cleaned again', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 400 }), (given) => {
        const name = cleanName(given);
        if (name === undefined) return;
        assert.match(name, /^[\p{L}\p{M}\p{N}_.,+-]+$/u);
        assert.doesNotMatch(name, /(?<![\p{L}\p{M}\p{N}])\p{M}/u, 'a mark without its letter');
        assert.ok(Buffer.byteLength(name) <= 100);
        assert.doesNotMatch(name, /^[._,+-]/);
        assert.equal(cleanName(name), name);
      }),
    );
  });
});

test('freeName counts before the extension', () => {
  assert.equal(freeName('a.txt', new Set()), 'a.txt');
  assert.equal(freeName('a.txt', new Set(['a.txt', 'a-2.txt'])), 'a-3.txt');
  const long = `${'x'.repeat(96)}.pdf`;
  assert.ok(Buffer.byteLength(freeName(long, new Set([long]))) <= 100);
});
