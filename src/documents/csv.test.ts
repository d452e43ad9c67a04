import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { csvToMarkdown, parseCsv } from './csv.ts';

describe('rows', () => {
  const cases: readonly (readonly [text: string, rows: string[][]])[] = [
    [
      'a,b\n1,2\n',
      [
        ['a', 'b'],
        ['1', '2'],
      ],
    ],
    [
      'a,b\r\n1,2',
      [
        ['a', 'b'],
        ['1', '2'],
      ],
    ],
    ['"a ""b""","c\nd"\n', [['a "b"', 'c\nd']]],
    [
      'a,\n,b\n',
      [
        ['a', ''],
        ['', 'b'],
      ],
    ],
    ['a,', [['a', '']]],
    ['"open', [['open']]],
    ['"a"b,c', [['ab', 'c']]],
    ['a"b,c', [['a"b', 'c']]],
    ['', []],
  ];
  for (const [text, rows] of cases) test(JSON.stringify(text), () => assert.deepEqual(parseCsv(text, ','), rows));

  test('any values come back', () => {
    const rows = fc.array(fc.array(fc.string(), { minLength: 1, maxLength: 5 }), { maxLength: 5 });
    fc.assert(
      fc.property(rows, (values) => {
        const text = values.map((row) => row.map((value) => `"${value.replaceAll('"', '""')}"`).join(',')).join('\n');
        assert.deepEqual(parseCsv(text, ','), values);
      }),
    );
  });
});

describe('a table', () => {
  test('whatever separates its columns', () => {
    for (const delimiter of [',', ';', '\t', '|']) {
      assert.equal(csvToMarkdown(`a${delimiter}b\n1${delimiter}2`), '| a | b |\n| --- | --- |\n| 1 | 2 |\n');
    }
  });

  test('a decimal comma is no separator among semicolons', () => {
    assert.equal(csvToMarkdown('a;b\n1,5;2,5'), '| a | b |\n| --- | --- |\n| 1,5 | 2,5 |\n');
  });

  test('separators within quotes separate nothing', () => {
    assert.equal(
      csvToMarkdown('"Name, first, last";Age\nAnna;7'),
      '| Name, first, last | Age |\n| --- | --- |\n| Anna | 7 |\n',
    );
  });

  test('what the name of the file says counts where the first line has it', () => {
    const table = '| Name, first, last | Age |\n| --- | --- |\n| Anna | 7 |\n';
    assert.equal(csvToMarkdown('Name, first, last\tAge\nAnna\t7', '\t'), table);
    assert.equal(csvToMarkdown('a,b\n1,2', '\t'), '| a | b |\n| --- | --- |\n| 1 | 2 |\n');
  });

  test('a first line that names the separator is for programs', () => {
    const table = '| a,b | c |\n| --- | --- |\n| 1 | 2 |\n';
    for (const delimiter of [';', '\t', '|'])
      for (const sep of ['sep', 'SEP'])
        assert.equal(csvToMarkdown(`${sep}=${delimiter}\r\na,b${delimiter}c\r\n1${delimiter}2`), table);
    assert.equal(csvToMarkdown('sep=x\n1'), '| sep=x |\n| --- |\n| 1 |\n');
  });

  test('rows of different lengths, bars, line ends, empty lines', () => {
    const text = 'a,b\n\n"1\n2",x|y,z\n';
    assert.equal(csvToMarkdown(text), '| a | b |  |\n| --- | --- | --- |\n| 1<br>2 | x\\|y | z |\n');
  });

  test('nothing', () => assert.equal(csvToMarkdown('').trim(), ''));
});
