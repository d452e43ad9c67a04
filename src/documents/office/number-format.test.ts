import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { numberFormat } from './number-format.ts';

describe('numbers as cells show them', () => {
  // Serial numbers and what Excel shows for them, dates in ISO 8601.
  const cases: readonly (readonly [code: string, value: number, shown: string])[] = [
    ['General', 0.1 + 0.2, '0.3'],
    ['General', 12480, '12480'],
    ['@', 7, '7'],
    ['0', 2.5, '3'],
    ['0.00', 1, '1.00'],
    ['#,##0', 1234567.4, '1,234,567'],
    ['#,##0.00 "€"', 1872.5, '1,872.50 €'],
    ['"$"#,##0.00;[Red]-"$"#,##0.00', -5, '-$5.00'],
    ['_(* #,##0.00_);_(* (#,##0.00);_(* "-"??_);_(@_)', -1234, '(1,234.00)'],
    ['#,##0.00;[Red]#,##0.00', -1234.5, '-1,234.50'],
    ['#,##0.00;[Red]#,##0.00', 1234.5, '1,234.50'],
    ['0;0', -5, '5'],
    ['#,##0;;"none"', -5, '-5'],
    [';-0', 5, '5'],
    [';;;', -5, '-5'],
    ['[$€-407] #,##0', 12, '€ 12'],
    ['0.0##', 1.5, '1.5'],
    ['0.0%', 0.425, '42.5%'],
    ['0.0"%"', 42.5, '42.5%'],
    ['0.00E+00', 12345, '1.23E+4'],
    ['#,##0,"k"', 12345678, '12,346k'],
    ['# ?/?', 0.5, '0.5'],
    ['yyyy-mm-dd', 46090, '2026-03-09'],
    ['dd/mm/yyyy hh:mm', 46090.604166666664, '2026-03-09 14:30'],
    ['yyyy-mm-dd hh:mm:ss', 46090.604166666664, '2026-03-09 14:30:00'],
    ['m/d/yy h:mm AM/PM', 46090.604166666664, '2026-03-09 14:30'],
    ['[$-409]d. mmmm yyyy', 46090, '2026-03-09'],
    ['mmm-yy', 46090, '2026-03'],
    ['h:mm:ss', 0.5, '12:00:00'],
    ['h:mm', 46090.604166666664, '14:30'],
    ['[h]:mm:ss', 1.5, '36:00:00'],
    ['[h]:mm:ss', -1.5, '-36:00:00'],
    ['mm:ss', 0.010416666666666666, '00:15:00'],
    ['yyyy-mm-dd', 1, '1900-01-01'],
    ['yyyy-mm-dd', 59, '1900-02-28'],
    // The day that never was.
    ['yyyy-mm-dd', 60, '1900-02-28'],
    ['yyyy-mm-dd', 61, '1900-03-01'],
    ['yyyy-mm-dd', 1e12, '1000000000000'],
    ['"day "0', 5, 'day 5'],
    ['0.0,"k"', 1560, '1.6k'],
    ['00000', 123, '00123'],
    ['000.0', -7.25, '-007.3'],
    ['000-00-0000', 12345678, '012-34-5678'],
    ['[<=9999999]###-####;(###) ###-####', 5551234, '555-1234'],
    ['[<=9999999]###-####;(###) ###-####', 4155551234, '(415) 555-1234'],
    ['00\\ 00\\ 00', 123456789, '12345 67 89'],
    ['[>=1]0;0%', 0.5, '50%'],
    ['[<0]"minus "0;[=0]"none";0.0', 0, '0'],
    ['[<0]"minus "0;[=0]"none";0.0', 1.5, '1.5'],
  ];
  for (const [code, value, shown] of cases) {
    test(`${code}: ${value}`, () => assert.equal(numberFormat(200, code).format(value, false), shown));
  }

  test('formats that have only a number', () => {
    const shown = (id: number, value: number): string => numberFormat(id, undefined).format(value, false);
    for (const id of [14, 15, 16]) assert.equal(shown(id, 46090.5), '2026-03-09', `${id}`);
    assert.equal(shown(17, 46090.5), '2026-03');
    assert.equal(shown(22, 46090.5), '2026-03-09 12:00');
    for (const id of [18, 20]) assert.equal(shown(id, 0.5), '12:00', `${id}`);
    for (const id of [19, 21, 45, 47]) assert.equal(shown(id, 0.5), '12:00:00', `${id}`);
    assert.equal(shown(46, 1.5), '36:00:00');
    for (const id of [1, 3, 37, 38]) assert.equal(shown(id, 1.5), '2', `${id}`);
    for (const id of [2, 4, 39, 40]) assert.equal(shown(id, 1.5), '1.50', `${id}`);
    for (const id of [4, 40]) assert.equal(shown(id, 1234.5), '1,234.50', `${id}`);
    assert.deepEqual([shown(9, 0.5), shown(10, 0.5)], ['50%', '50.00%']);
    assert.deepEqual([shown(11, 15000), shown(48, 15000)], ['1.50E+4', '1.5E+4']);
    for (const id of [0, 999]) assert.equal(shown(id, 1.25), '1.25', `${id}`);
  });

  test('days that count from 1904 on', () => {
    assert.equal(numberFormat(14, undefined).format(44628, true), '2026-03-09');
  });
});
