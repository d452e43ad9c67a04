import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  fillIn,
  freeName,
  knownValues,
  promptFits,
  readPrompts,
  slashName,
  valuesOf,
  variablesOf,
  writePrompts,
} from './prompts.ts';

describe('variables of a prompt', () => {
  test('are asked for once each, in their order', () => {
    const text = 'Write {{ tone=friendly }} about {{topic}} and {{topic}}, {{length=short|long}}.';
    assert.deepEqual(variablesOf(text), [
      { name: 'tone', initial: 'friendly', choices: [] },
      { name: 'topic', initial: '', choices: [] },
      { name: 'length', initial: 'short', choices: ['short', 'long'] },
    ]);
  });

  test('may have names in any language, with blanks', () => {
    assert.deepEqual(
      variablesOf('{{Name der Stadt}} {{城市}}').map(({ name }) => name),
      ['Name der Stadt', '城市'],
    );
  });

  test('are not the braces of other things', () => {
    assert.deepEqual(
      variablesOf('{a} {{}} {{ }} {{#if x}} {{{x}}}').map(({ name }) => name),
      ['x'],
    );
    assert.equal(fillIn('{a} {{#if x}} {{}}', { x: '1' }), '{a} {{#if x}} {{}}');
  });

  test('get their values, which are not read again', () => {
    assert.equal(fillIn('{{a}} and {{ b = 2 }} {{c}}', { a: '{{b}} $&', b: 'two' }), '{{b}} $& and two {{c}}');
  });

  test('are at first what the prompt says, whatever they are called', () => {
    const text = 'Write a {{constructor}} with {{__proto__}} for {{class=a car}}{{end=!}}';
    const values = valuesOf(variablesOf(text), { class: 'a bus', end: '' });
    assert.equal(fillIn(text, values), 'Write a  with  for a bus');
  });

  test('that are known need no question', () => {
    const text = '{{date}}, {{Language}}: {{topic}}';
    assert.deepEqual(
      variablesOf(text).map(({ name }) => name),
      ['topic'],
    );
    const values = knownValues(new Date(2026, 10, 20, 12, 0), 'en');
    assert.equal(fillIn(text, { ...values, topic: 'x' }), 'November 20, 2026, English: x');
  });
});

describe('names behind the slash', () => {
  test('are made of what was typed', () => {
    assert.equal(slashName(' Über Bücher & mehr! '), 'über-bücher-mehr');
    assert.equal(slashName('/e-mail'), 'e-mail');
    assert.equal(slashName('!!!'), '');
  });

  test('get a number where they are taken', () => {
    assert.equal(freeName('a', new Set(['a', 'a-2'])), 'a-3');
    assert.equal(freeName('', new Set()), 'prompt');
  });
});

describe('files of prompts', () => {
  let count = 0;
  const newId = (): string => `id-${count++}`;

  test('come back as they were', () => {
    const prompts = [{ id: '1', name: 'sum', title: 'Sum up', text: 'Sum up:\n{{text}}', updated: 1 }];
    const [read] = readPrompts(JSON.parse(writePrompts(prompts)), [], newId);
    assert.deepEqual([read?.name, read?.title, read?.text], ['sum', 'Sum up', 'Sum up:\n{{text}}']);
  });

  test('of Open WebUI are read as well, and names that are taken get a number', () => {
    const file = [
      { command: '/sum', title: 'Sum up', content: 'Sum up: {{text}}' },
      { command: 'sum', title: 'Again', content: 'Again' },
      { command: '/x', title: 'Nothing', content: '' },
      null,
      5,
    ];
    assert.deepEqual(
      readPrompts(file, ['sum'], newId).map(({ name, title }) => [name, title]),
      [
        ['sum-2', 'Sum up'],
        ['sum-3', 'Again'],
      ],
    );
  });

  test('of anything else have none', () => {
    for (const odd of [null, 4, 'x', {}, { prompts: 'x' }]) assert.deepEqual(readPrompts(odd, [], newId), []);
  });
});

test('a search finds words wherever they are', () => {
  const prompt = { id: '1', name: 'sum', title: 'Sum up', text: 'In three sentences', updated: 0 };
  assert.ok(promptFits(prompt, 'THREE sum'));
  assert.ok(!promptFits(prompt, 'four'));
});
