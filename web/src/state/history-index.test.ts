import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { HistoryIndex } from './history-index.ts';
import { folded, marked, snippetOf, termsOf } from './history-text.ts';

function shown({ text, marks }: ReturnType<typeof snippetOf>): string[] {
  return marks.map(([from, to]) => text.slice(from, to));
}

describe('searching', () => {
  const index = new HistoryIndex();
  index.putChat('bread', 'How to bake bread', 1);
  index.putMessage({ id: 'b1', chat: 'bread', text: 'Flour, water, salt' });
  index.putMessage({ id: 'b2', chat: 'bread', text: 'And yeast: the salt and the flour again' });
  index.putChat('soup', 'Soup', 2);
  index.putMessage({ id: 's1', chat: 'soup', text: 'A crème of onions, salt and 漢字の検索' });
  index.putChat('salt', 'Salt', 0);
  index.putMessage({ id: 'x1', chat: 'salt', text: 'From the sea' });
  const found = (search: string): unknown[] => index.search(search).map(({ chat, message }) => [chat, message]);

  test('finds titles first, then messages, the newest first', () => {
    assert.deepEqual(found('salt'), [
      ['salt', undefined],
      ['soup', 's1'],
      ['bread', 'b1'],
    ]);
  });

  test('needs all words, wherever in the chat they are, and prefers messages that have them together', () => {
    assert.deepEqual(found('flour bake'), [['bread', 'b1']]);
    assert.deepEqual(found('salt yeast'), [['bread', 'b2']]);
    assert.deepEqual(found('salt pepper'), []);
  });

  test('knows no case, no accents, no blanks between words, and phrases', () => {
    assert.deepEqual(found('CREME onion'), [['soup', 's1']]);
    assert.deepEqual(found('字の検'), [['soup', 's1']]);
    index.putMessage({ id: 's2', chat: 'soup', text: 'Große Œuvres in der Straße, ΤΟΥ ΛΌΓΟΥ ΟΔΌΣ' });
    for (const search of ['strasse', 'STRAẞE', 'straße', 'grosse', 'oeuvre', 'οδος']) {
      assert.deepEqual(found(search), [['soup', 's2']], search);
    }
    assert.deepEqual(found('"water, salt"'), [['bread', 'b1']]);
    assert.deepEqual(found('"salt, water"'), []);
    assert.deepEqual(found('  '), []);
  });

  test('does not tell apart apostrophes, quotation marks and dashes', () => {
    const signs = new HistoryIndex();
    signs.putChat('c', 'Signs', 1);
    signs.putMessage({
      id: 'm',
      chat: 'c',
      text: 'I don’t know “smart quotes” — nor co‑operate, nor "plain ones" - nor can\'t',
    });
    const searches = [
      "don't",
      'can’t',
      'co-operate',
      '“smart quotes”',
      '“plain ones”',
      '"smart quotes"',
      '„quotes“',
      '– nor',
    ];
    for (const search of searches) assert.equal(signs.search(search).length, 1, search);
    assert.equal(signs.search('“quotes smart”').length, 0);
    assert.deepEqual(shown(marked('I don’t — ever', termsOf("don't -"))), ['don’t', '—']);
  });

  test('finds a phrase before its second quotation mark is written', () => {
    assert.deepEqual(termsOf('soup "smart quo'), ['soup', 'smart quo']);
    assert.deepEqual(termsOf('“smart quo'), ['smart quo']);
    assert.deepEqual(termsOf('"smart quotes" „and mo'), ['smart quotes', 'and mo']);
    assert.deepEqual(termsOf('a 5" pipe'), ['a', '5"', 'pipe']);
    for (const none of ['"', ' „ ', '""', '"""', '']) assert.deepEqual(termsOf(none), [], none);
  });

  test('follows what changes', () => {
    index.putMessage({ id: 's1', chat: 'soup', text: 'Pepper' });
    assert.deepEqual(found('pepper'), [['soup', 's1']]);
    assert.deepEqual(found('onions'), []);
    index.putChat('soup', 'Broth', 3);
    assert.deepEqual(found('broth'), [['soup', undefined]]);
    index.removeMessage('soup', 's1');
    assert.deepEqual(found('pepper'), []);
    index.removeChat('soup');
    assert.deepEqual(found('broth'), []);
  });
});

describe('snippets', () => {
  test('show what was found, in its own words', () => {
    const text = `${'much before it. '.repeat(20)}The Crème BRÛLÉE\nis ready.${' and after'.repeat(40)}`;
    const snippet = snippetOf(text, termsOf('brulee ready'));
    assert.deepEqual(shown(snippet), ['BRÛLÉE', 'ready']);
    assert.match(snippet.text, /^….*Crème BRÛLÉE is ready.*…$/);
    assert.ok(snippet.text.length < 190);
  });

  test('mark composed characters, ligatures and what overlaps', () => {
    assert.deepEqual(shown(marked('ﬁsh and e\u0301t\u00e9', termsOf('fish ete'))), ['ﬁsh', 'e\u0301t\u00e9']);
    assert.deepEqual(shown(marked('banana', termsOf('ban anan'))), ['banan']);
    assert.deepEqual(shown(marked('😀 smile', termsOf('smile'))), ['smile']);
    assert.deepEqual(marked('', termsOf('x')), { text: '', marks: [] });
  });

  test('are there without any hit', () => {
    assert.deepEqual(snippetOf('short', []), { text: 'short', marks: [] });
  });

  test('fold alike whether as a whole or piece by piece', () => {
    for (const text of ['Ärger', 'İstanbul', 'ǅ', 'Straße', 'a\u0301b']) {
      assert.equal(marked(text, [folded(text)]).marks.length, 1, text);
    }
  });
});
