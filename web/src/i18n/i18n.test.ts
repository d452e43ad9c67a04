import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { formFor } from './dictionary.ts';
import { LANGUAGES } from './index.ts';

type Sections = Readonly<Record<string, Readonly<Record<string, string | Readonly<Record<string, string>>>>>>;

const languages: Readonly<Record<string, Sections>> = Object.fromEntries(
  await Promise.all(Object.keys(LANGUAGES).map(async (name) => [name, await import(`./${name}/index.ts`)])),
);

/** `section.key` → all its texts. */
function texts(sections: Sections): Map<string, readonly string[]> {
  return new Map(
    Object.entries(sections).flatMap(([section, words]) =>
      Object.entries(words).map(([key, text]): [string, readonly string[]] => [
        `${section}.${key}`,
        typeof text === 'string' ? [text] : Object.values(text),
      ]),
    ),
  );
}

const english = texts(languages['en'] as Sections);

for (const [language, sections] of Object.entries(languages)) {
  describe(`the words in ${language}`, () => {
    const words = texts(sections);

    test('have the keys of the English ones', () => {
      assert.deepEqual([...words.keys()].sort(), [...english.keys()].sort());
    });

    test('say something for every key', () => {
      for (const [key, each] of words) for (const text of each) assert.notEqual(text.trim(), '', key);
    });

    test('use the same values', () => {
      const valuesOf = (each: readonly string[]): string[] =>
        [...new Set(each.flatMap((text) => text.match(/\{\w+\}/g) ?? []))].sort();
      for (const [key, each] of words) assert.deepEqual(valuesOf(each), valuesOf(english.get(key) ?? []), key);
    });

    test('have every plural that the language knows', () => {
      const rules = new Intl.PluralRules(language);
      // `many` in Spanish and French is for millions, where these texts have the same form as `other`.
      const needed = [...new Set(Array.from({ length: 1_000 }, (_, count) => rules.select(count)))];
      for (const section of Object.values(sections))
        for (const [key, text] of Object.entries(section)) {
          if (typeof text === 'string') continue;
          const missing = needed.filter((category) => !Object.hasOwn(text, category));
          assert.deepEqual(missing, [], key);
        }
    });
  });
}

test('the German words say du to whoever reads them, never Sie', () => {
  for (const [key, each] of texts(languages['de'] as Sections)) {
    // At the begin of a sentence it may be the plural of something.
    for (const text of each) assert.doesNotMatch(text, /[^.:?!…“„]\s(Sie|Ihnen|Ihre[mnrs]?|Ihr)\b/, key);
  }
});

test('a language may have more forms for numbers than English', () => {
  const polish = new Intl.PluralRules('pl');
  const files = { one: 'plik', few: 'pliki', many: 'plików', other: 'pliku' };
  const said = [1, 3, 5, 1.5].map((count) => formFor(count, files, polish));
  assert.deepEqual(said, ['plik', 'pliki', 'plików', 'pliku']);
  assert.equal(formFor(1, { other: '个文件' }, new Intl.PluralRules('zh')), '个文件');
});
