import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { CatalogState, ModelEntry, ProviderEntry } from './catalog.ts';
import { COMPARED, firstSides, isTogether, withSide } from './compare.ts';
import { type PickerWish, pickerGroups, RECENT, recentOf, withRecent } from './picker.ts';
import { defaultSettings } from './settings.ts';

function provider(name: string, members: Partial<ProviderEntry> = {}): ProviderEntry {
  return {
    name,
    label: name.toUpperCase(),
    auth: true,
    login_url: null,
    active_by_default: true,
    image: 0,
    audio: 0,
    video: 0,
    vision: false,
    origin: 'environment',
    key_variable: null,
    web_search: false,
    cookie_domain: null,
    quota: false,
    speech: false,
    voices: [],
    ...members,
  };
}

function model(id: string, members: Partial<ModelEntry> = {}): ModelEntry {
  return {
    id,
    label: id,
    default: false,
    image: false,
    vision: false,
    audio: false,
    video: false,
    tools: false,
    reasoning: false,
    type: 'chat',
    tags: [],
    providers: [],
    ...members,
  };
}

const catalog: CatalogState = {
  status: 'ready',
  own: {},
  providers: [
    provider('one'),
    provider('two'),
    provider('zeta', { active_by_default: false }),
    provider('eta', { active_by_default: false }),
    provider('local', { active_by_default: false, auth: false }),
    provider('cookie', { active_by_default: false, cookie_domain: 'example.com' }),
  ],
  models: {
    one: [model('a'), model('b', { vision: true, tools: true }), model('say', { type: 'speech' })],
    two: [model('a', { vision: true })],
    zeta: [],
  },
};

const wish: PickerWish = { search: '', abilities: [], favourites: [], recent: [] };

/** `kind label: provider/model …` */
function shown(changed: Partial<PickerWish>): readonly string[] {
  return pickerGroups(catalog, { ...wish, ...changed }).map(
    ({ kind, rows }) => `${kind}: ${rows.map((row) => `${row.provider}/${row.model}`).join(' ')}`,
  );
}

describe('the model picker', () => {
  test('has what answers chats, with words or pictures, and nothing else', () => {
    const kinds = ['image', 'video', 'speech', 'transcription', 'embedding', 'rerank', 'moderation'];
    const models = { one: [model('a'), ...kinds.map((type) => model(type, { type }))] };
    const [group] = pickerGroups({ ...catalog, models }, wish);
    assert.deepEqual(
      group?.rows.map((row) => row.model),
      ['a', 'image', 'video'],
    );
  });

  test('shows models by provider, then who only waits for a key', () => {
    assert.deepEqual(shown({}), ['provider: one/a one/b', 'provider: two/a', 'keys: eta/ zeta/']);
  });

  test('shows favourites and recent ones first, and each model once', () => {
    assert.deepEqual(shown({ favourites: ['two/a'], recent: ['one/b', 'two/a', 'gone/x'] }), [
      'favourites: two/a',
      'recent: one/b',
      'provider: one/a',
      'keys: eta/ zeta/',
    ]);
  });

  test('searches models and providers', () => {
    assert.deepEqual(shown({ search: 'two' }), ['provider: two/a']);
    assert.deepEqual(shown({ search: 'zet' }), ['keys: zeta/']);
    assert.deepEqual(shown({ search: 'nothing' }), []);
  });

  test('shows what can do all that is wished', () => {
    assert.deepEqual(shown({ abilities: ['vision'] }), ['provider: one/b', 'provider: two/a']);
    assert.deepEqual(shown({ abilities: ['vision', 'tools'], favourites: ['two/a'] }), ['provider: one/b']);
  });

  test('keeps the last few that were chosen', () => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f', 'b'].reduce<readonly string[]>(
      (before, name) => withRecent({ [RECENT]: before }, { provider: 'p', model: name }),
      [],
    );
    assert.deepEqual(names, ['p/b', 'p/f', 'p/e', 'p/d', 'p/c']);
    assert.deepEqual(withRecent({ [RECENT]: names }, { provider: '', model: '' }), names);
    assert.deepEqual(recentOf({ [RECENT]: 'nonsense' }), []);
  });
});

describe('sides to compare', () => {
  test('begin with the model of the next chat and another one', () => {
    const settings = { ...defaultSettings, choice: { provider: 'one', model: 'b' } };
    assert.deepEqual(firstSides(catalog, settings), [
      { provider: 'one', model: 'b' },
      { provider: 'one', model: 'a' },
    ]);
  });

  test('are those of the last time, as far as they are still there', () => {
    const compared = [
      { provider: 'two', model: 'a' },
      { provider: 'gone', model: 'x' },
    ];
    assert.deepEqual(firstSides(catalog, { ...defaultSettings, more: { [COMPARED]: compared } }), [
      { provider: 'two', model: 'a' },
      { provider: 'one', model: 'a' },
    ]);
  });

  test('share a question while they are at the same place', () => {
    const sides = firstSides(catalog, defaultSettings);
    assert.equal(isTogether(sides), true);
    assert.equal(isTogether(withSide(sides, 1, { leaf: 'x' })), false);
  });
});
