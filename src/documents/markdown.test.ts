import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { fence, link, safeAddress, tidy } from './markdown.ts';

describe('a fence', () => {
  test('is longer than any inside', () => {
    assert.equal(fence('a'), '```\na\n```');
    assert.equal(fence('```\nb\n```\n', 'md'), '````md\n```\nb\n```\n````');
  });

  test('has a language that cannot end it', () => assert.equal(fence('a', 'c++\n```'), '```c++\na\n```'));
});

describe('addresses', () => {
  const kept: readonly (readonly [address: string, kept: string])[] = [
    ['https://a.example/b?c=d#e', 'https://a.example/b?c=d#e'],
    ['mailto:a@b.example', 'mailto:a@b.example'],
    ['tel:+49-30-1', 'tel:+49-30-1'],
    ['/b(c)', '/b%28c%29'],
    ['#d', '#d'],
    [' https://a.example/<b> ', 'https://a.example/%3Cb%3E'],
  ];
  for (const [address, expected] of kept) test(address, () => assert.equal(safeAddress(address), expected));

  for (const address of [
    'javascript:a()',
    ' JAVA\tSCRIPT:a()',
    'java\u0000script:a()',
    'data:text/html,a',
    'vbscript:a',
    'file:///a',
    '',
    ' ',
  ]) {
    test(`${JSON.stringify(address)} is left out`, () => {
      assert.equal(safeAddress(address), undefined);
      assert.equal(link('words', address), 'words');
    });
  }

  test('brackets in the words of a link', () => assert.equal(link('a [b]', '#c'), '[a \\[b\\]](#c)'));
});

describe('tidy', () => {
  test('line ends, empty lines, white space', () => {
    assert.equal(tidy('\r\n\na \r\nb   \n\n\n\nc\t\n\n'), 'a\nb  \n\nc\n');
  });

  test('code stays as it is', () => {
    const code = '```js\na  \n\n\n\nb\n```';
    assert.equal(tidy(code), `${code}\n`);
    assert.equal(tidy('````\n```\n\n\n````\n\n\nx'), '````\n```\n\n\n````\n\nx\n');
  });

  test('code within a line does not turn what is code around', () => {
    const code = '```\nx\n\n\ny\n```';
    assert.equal(tidy(`\`\`\`a\`\`\` b\n\n\n\nc\n\n${code}`), `\`\`\`a\`\`\` b\n\nc\n\n${code}\n`);
  });
});
