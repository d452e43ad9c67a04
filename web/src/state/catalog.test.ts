import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hasNone, initialCatalog, isGone, reduceCatalog, settle } from './catalog.ts';

test('what there is for a key of the person is unknown until the provider has said so', () => {
  const wish = { provider: 'own', model: 'm' };
  const list = { type: 'catalog/loaded', providers: [], models: { own: [] }, withKey: ['own'] } as const;
  const asking = reduceCatalog(initialCatalog, list);
  assert.deepEqual([isGone(asking, wish), hasNone(asking), settle(asking, wish)], [false, false, wish]);
  // It still may be there, but whoever looks for models needs to know that there are none.
  const mute = reduceCatalog(asking, { type: 'catalog/mute', name: 'own' });
  assert.deepEqual([isGone(mute, wish), hasNone(mute)], [false, true]);
  const known = reduceCatalog(mute, { type: 'catalog/provider', name: 'own', models: [] });
  assert.deepEqual([isGone(known, wish), hasNone(known)], [true, true]);
  // A later list, or a later failure, takes nothing from it.
  for (const action of [list, { type: 'catalog/mute', name: 'own' } as const]) {
    assert.equal(isGone(reduceCatalog(known, action), wish), true);
  }
  // Without the key it is the server's word that counts.
  const forgotten = reduceCatalog(asking, { ...list, withKey: [] });
  assert.equal(isGone(forgotten, wish), true);
  assert.equal(isGone(asking, { ...wish, provider: 'vanished' }), true);
});
