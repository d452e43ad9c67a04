import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { formulaAt, looksLikeMaths } from './dollars.ts';
import { hold } from './hold.ts';
import { mend, PENDING } from './mend.ts';
import { cutAt, withoutPictures, withPictures } from './pictures.ts';

describe('an unfinished line', () => {
  const cases: readonly (readonly [unfinished: string, mended: string])[] = [
    ['**bold', '**bold**'],
    ['**bold ', '**bold**'],
    ['**bold*', '**bold**'],
    ['**bold** and *', '**bold** and '],
    ['***both', '***both***'],
    ['~~gone', '~~gone~~'],
    ['`code', '`code`'],
    ['``co`de', '``co`de ``'],
    ['a `', 'a '],
    ['[text', `[text](${PENDING})`],
    ['文字**「强调', '文字**「强调**'],
    ['a note[^', 'a note'],
    ['a note[^1]', 'a note[^1]'],
    ['text</details', 'text'],
    ['[text](https://exa', `[text](${PENDING})`],
    ['**[text', `**[text](${PENDING})**`],
    ['before ![alt](/media', 'before '],
    ['a $', 'a '],
    ['snake_case and 2 * 3 and 5*3', 'snake_case and 2 * 3 and 5*3'],
    ['$5 and', '$5 and'],
    ['\\(x', '\\(x\\)'],
    ['$$x', '$$x$$'],
    ['<video src="/media/1', ''],
    ['1 < 2', '1 < 2'],
    ['done [link](https://example.com/) *here*', 'done [link](https://example.com/) *here*'],
  ];
  for (const [unfinished, mended] of cases) {
    test(JSON.stringify(unfinished), () => assert.equal(mend(unfinished).text, mended));
  }

  test('waits while it is nothing but marks', () => {
    for (const line of ['-', '1', '1.', '# ', '``', '---', '|', '> ', '- [', '|--|'])
      assert.equal(hold(`Text\n${line}`), 'Text\n', line);
    assert.equal(hold('Text\n- a'), 'Text\n- a');
    assert.equal(hold('```pyth'), '```');
  });

  test('of cells waits until it is known where words stand in them', () => {
    assert.equal(hold('Text\n\n| a | b'), 'Text\n\n');
    assert.equal(hold('| a | b |\n|---|--'), '');
    assert.equal(hold('| a | b |\n|---|--:|\n'), '| a | b |\n|---|--:|\n');
    assert.equal(hold('| a | b |\nno table'), '| a | b |\nno table');
    assert.equal(hold('| a |\n|---|\n| b'), '| a |\n|---|\n| b');
  });
});

describe('dollars', () => {
  const formula = (text: string) => {
    const found = formulaAt(text, text.indexOf('$'));
    return found && text.slice(found.from, found.to);
  };
  test('are a formula', () => {
    for (const source of ['x', 'x^2', '2n', '5 + x_1 = 3', '\\$5']) assert.equal(formula(`a $${source}$ b`), source);
    assert.equal(formula('the $n$th'), 'n');
  });
  test('are money, or variables', () => {
    for (const text of ['$5 and $10', '$5-$10', '$5 or 10$ a', '$HOME/$USER', '$ 5$', '$a $'])
      assert.equal(formula(text), undefined, text);
    assert.equal(looksLikeMaths('x^2 +'), true);
    assert.equal(looksLikeMaths('5 and'), false);
  });
});

test('pictures in a text are set aside and put back, and do not count', () => {
  const address = `data:image/png;base64,${'A'.repeat(500)}`;
  const env = {};
  const text = `a ![b](${address}) c`;
  const short = withoutPictures(text, env);
  assert.equal(short, 'a ![b](sluice-picture:0) c');
  assert.equal(withPictures(short, env), text);
  assert.equal(cutAt(text, 100), text.length);
  assert.equal(cutAt('x'.repeat(200), 100), 100);
});
