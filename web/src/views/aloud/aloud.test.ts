import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { initialCatalog, type ModelEntry } from '../../state/catalog.ts';
import { sentencesOf } from './sentences.ts';
import { speakersOf, voiceOf } from './voice.ts';

describe('what is read of an answer', () => {
  test('is its words without the marks', () => {
    const markdown = `# Bread & water

Mix **flour** with \`water\` and _wait_ for [an hour](https://example.com/x_(y) "title"). See https://www.example.org/path?x=1 too!

- First point of the list that is long enough
- [x] Done
1. one

| Name | Price |
|------|-------|
| Tea  | 3     |

\`\`\`js
const code = 'never read';
\`\`\`

$$ x^2 $$

<b>Bold</b> end.`;
    assert.deepEqual(sentencesOf(markdown, 'en'), [
      'Bread & water. Mix flour with water and wait for an hour.',
      'See example.org too! First point of the list that is long enough.',
      'Done. one. Name, Price. Tea, 3. Bold end.',
    ]);
  });

  test('has no numbers of footnotes, and the words of alerts', () => {
    const markdown = 'Bread rises[^1] slowly.\n\n> [!TIP]\n> Use warm water.\n\n[^1]: Because of the yeast.';
    assert.deepEqual(sentencesOf(markdown, 'en'), [
      'Bread rises slowly. TIP. Use warm water.',
      'Because of the yeast.',
    ]);
  });

  test('leaves an open code block out, and has nothing where there is nothing to say', () => {
    assert.deepEqual(sentencesOf('Look:\n```\ncode without end', 'en'), ['Look:']);
    assert.deepEqual(sentencesOf('```\nonly code\n```\n---\n', 'en'), []);
  });

  test('knows where sentences end in other languages', () => {
    const text = `${'这是第一句话，它足够长，所以不会和下一句连在一起，因为超过了四十个字符的界限，真的足够长了。'}第二句。`;
    assert.deepEqual(sentencesOf(text, 'zh').length, 2);
  });

  test('comes in pieces of a bearable length', () => {
    const pieces = sentencesOf(`${'word '.repeat(300)}and so on, `.repeat(2), 'en');
    assert.ok(pieces.every((piece) => piece.length <= 400 && piece !== ''));
    assert.equal(pieces.join(' ').match(/word/g)?.length, 600);
    assert.ok(sentencesOf('x'.repeat(1_000), 'en').length === 3);
  });
});

describe('the voice', () => {
  const speakers = ['flite', 'elevenlabs'];

  test('is the one of the settings', () => {
    assert.deepEqual(voiceOf('elevenlabs/anna/b', speakers, true, 'en'), {
      by: 'server',
      provider: 'elevenlabs',
      voice: 'anna/b',
    });
    assert.deepEqual(voiceOf('flite', speakers, true, 'de'), { by: 'server', provider: 'flite' });
    assert.deepEqual(voiceOf('browser/x', speakers, true, 'en'), { by: 'browser', voice: 'x' });
  });

  test('is one that can speak the language where nothing is set, or where it is gone', () => {
    assert.deepEqual(voiceOf('', ['flite'], true, 'en'), { by: 'server', provider: 'flite' });
    assert.deepEqual(voiceOf('', ['flite'], true, 'de'), { by: 'browser' });
    assert.deepEqual(voiceOf('gone/x', speakers, true, 'de'), { by: 'server', provider: 'elevenlabs' });
    assert.deepEqual(voiceOf('browser', ['flite'], false, 'de'), { by: 'server', provider: 'flite' });
    assert.equal(voiceOf('', [], false, 'en'), undefined);
  });

  test('comes from providers with models that speak', () => {
    const model = (type: string): ModelEntry => ({ type }) as ModelEntry;
    const models = { a: [model('chat')], b: [model('chat'), model('speech')] };
    assert.deepEqual(speakersOf({ ...initialCatalog, models }), ['b']);
  });
});
