import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setImmediate as immediate } from 'node:timers/promises';
import { testLogger } from '../../test/support/call.ts';
import { eventually } from '../../test/support/eventually.ts';
import { SluiceError } from '../core/errors.ts';
import type { Model } from '../core/model.ts';
import type { AuthNeed, Provider } from '../core/provider.ts';
import { Catalog } from './catalog.ts';

interface Stub extends Provider {
  /** How often its models were asked for. */
  readonly asked: number;
  /** What it lists from now on; an error is thrown. */
  lists: readonly string[] | Error | 'nothing, ever';
}

function stub(id: string, lists: Stub['lists'], auth: AuthNeed = { kind: 'none' }, more: Partial<Provider> = {}): Stub {
  let asked = 0;
  const provider: Stub = {
    id,
    label: id.toUpperCase(),
    origin: 'file',
    auth,
    ...more,
    lists,
    get asked() {
      return asked;
    },
    async models(): Promise<readonly Model[]> {
      asked += 1;
      if (provider.lists instanceof Error) throw provider.lists;
      if (provider.lists === 'nothing, ever') return new Promise(() => {});
      return provider.lists.map((name) => ({ id: name }));
    },
  };
  return provider;
}

function catalogOf(...providers: readonly Provider[]): Catalog {
  const catalog = new Catalog(testLogger());
  catalog.use(providers);
  return catalog;
}

const idsOf = (models: readonly Model[]): string[] => models.map(({ id }) => id);

describe('Catalog', () => {
  test('asks once for what is used often, and once at a time', async () => {
    const a = stub('a', ['m']);
    const catalog = catalogOf(a);
    const offers = await Promise.all(Array.from({ length: 20 }, () => catalog.offer(a)));
    for (const { models } of offers) assert.deepEqual(idsOf(models), ['m']);
    await catalog.list();
    assert.equal(a.asked, 1);
  });

  test('a failure is part of the answer, and not asked again at once', async () => {
    const a = stub('a', new SluiceError('upstream_unreachable', 'nobody there'));
    const catalog = catalogOf(a, stub('b', ['m']));
    const [ofA, ofB] = await catalog.list();
    assert.equal(ofA?.error?.code, 'upstream_unreachable');
    assert.equal(ofA?.error?.options.provider, 'a');
    assert.deepEqual(idsOf(ofA?.models ?? []), []);
    assert.deepEqual(idsOf(ofB?.models ?? []), ['m']);
    await catalog.list();
    assert.equal(a.asked, 1);
  });

  test('a mistake of ours loses its text', async () => {
    const a = stub('a', new TypeError('secret'));
    const { error } = await catalogOf(a).offer(a);
    assert.equal(error?.code, 'internal');
    assert.doesNotMatch(error?.message ?? '', /secret/);
  });

  test('a provider that never answers holds up the others only for a while', { timeout: 20_000 }, async () => {
    const [a, b] = [stub('a', 'nothing, ever'), stub('b', ['m'])];
    const catalog = catalogOf(a, b);
    const alone = assert.rejects(catalog.listWith(a, { apiKey: 'k' }), { code: 'upstream_timeout' });
    const [ofA, ofB] = await catalog.list();
    assert.equal(ofA?.error?.code, 'upstream_timeout');
    assert.deepEqual(idsOf(ofB?.models ?? []), ['m']);
    await alone;
  });

  test('who was too slow once is waited for again only by those who look for a model that nobody else has', async (context) => {
    const [a, b] = [stub('a', new SluiceError('upstream_timeout', 'too slow')), stub('b', ['m'])];
    const catalog = catalogOf(a, b);
    await catalog.list();
    const now = performance.now();
    context.mock.method(performance, 'now', () => now + 20_000);
    const back = Promise.withResolvers<readonly Model[]>();
    const asked = context.mock.method(a, 'models', () => back.promise);
    for (let at = 0; at < 2; at += 1) {
      const [ofA, ofB] = await Promise.race([catalog.list(), immediate([])]);
      assert.equal(ofA?.error?.code, 'upstream_timeout');
      assert.deepEqual(idsOf(ofB?.models ?? []), ['m']);
    }
    const found = catalog.offering('n');
    assert.equal(asked.mock.callCount(), 1);
    back.resolve([{ id: 'n' }]);
    assert.deepEqual(await found, [a]);
    const [ofA] = await catalog.list();
    assert.deepEqual(idsOf(ofA?.models ?? []), ['n']);
  });

  test('providers of a model come in their order, without waiting for other listings', async () => {
    const [a, b, c] = [stub('a', ['shared', 'own']), stub('b', ['shared']), stub('c', 'nothing, ever')];
    const catalog = catalogOf(a, b, c);
    await Promise.all([catalog.offer(a), catalog.offer(b)]);
    assert.deepEqual(catalog.offering('shared'), [a, b]);
    assert.deepEqual(catalog.offering('own'), [a]);
  });

  test('a provider whose listing nobody has asked for is found when another is looked for, or by later requests', async () => {
    const [a, b] = [stub('a', ['m']), stub('b', ['m'])];
    const catalog = catalogOf(a, b);
    await catalog.offer(a);
    assert.deepEqual(catalog.offering('m'), [a]);
    await eventually('both', async () => (await catalog.offering('m')).includes(b));
    const other = catalogOf(a, b);
    await other.offer(a);
    assert.deepEqual(await other.offering('m', (provider) => provider !== a), [a, b]);
  });

  test('who needs a key and has none takes no part, unless named', async () => {
    const a = stub('a', ['m'], { kind: 'api_key', configured: false });
    const b = stub('b', ['m'], { kind: 'api_key', configured: true });
    const catalog = catalogOf(a, b);
    assert.deepEqual(await catalog.offering('m'), [b]);
    assert.equal(a.asked, 0);
    assert.deepEqual(idsOf(await catalog.listWith(a, { apiKey: 'k' })), ['m']);
  });

  test('names win over labels, whatever the case', () => {
    const [a, b] = [stub('a', [], { kind: 'none' }, { label: 'B' }), stub('b', [])];
    const catalog = catalogOf(a, b);
    assert.equal(catalog.provider('B'), b);
    assert.equal(catalog.provider('A'), a);
    assert.equal(catalog.provider('c'), undefined);
    for (const name of ['__proto__', 'constructor', '']) assert.equal(catalog.provider(name), undefined);
  });

  test('listings of providers that stay are kept; those of others are forgotten', async () => {
    const [a, b] = [stub('a', ['m']), stub('b', ['m'])];
    const catalog = catalogOf(a, b);
    await catalog.list();
    catalog.use([b]);
    assert.deepEqual(await catalog.offering('m'), [b]);
    catalog.use([a, b]);
    await catalog.list();
    assert.deepEqual([a.asked, b.asked], [2, 1]);
  });

  test('a listing that comes when its provider is gone is dropped', async () => {
    const a = stub('a', ['m']);
    const catalog = catalogOf(a);
    const coming = catalog.offer(a);
    catalog.use([]);
    await coming;
    assert.deepEqual(await catalog.offering('m'), []);
  });

  test('the model for requests that name none', async () => {
    const named = stub('a', [], { kind: 'none' }, { defaultModel: 'd' });
    const listing = stub('b', ['first', 'second']);
    const empty = stub('c', []);
    const broken = stub('d', new SluiceError('upstream_unreachable', 'nobody there'));
    const catalog = catalogOf(named, listing, empty, broken);
    assert.equal(await catalog.defaultModel(named, {}), 'd');
    assert.equal(named.asked, 0);
    assert.equal(await catalog.defaultModel(listing, {}), 'first');
    await assert.rejects(catalog.defaultModel(empty, {}), { code: 'model_not_found' });
    await assert.rejects(catalog.defaultModel(broken, {}), { code: 'upstream_unreachable' });
  });
});
