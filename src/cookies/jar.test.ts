import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readlinkSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { type FileHandle, open as openFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { testLogger } from '../../test/support/call.ts';
import { temporaryFolder } from '../../test/support/config-folder.ts';
import { CookieStore } from './jar.ts';
import type { BrowserCookie } from './parse.ts';

/** 1 October 2030, and the seconds then. */
const NOW = Date.UTC(2030, 9, 1);
const SECONDS = NOW / 1000;

function cookie(domain: string, name: string, more: Partial<BrowserCookie> = {}): BrowserCookie {
  return { domain, name, value: `${name}-value`, path: '/', secure: false, ...more };
}

async function holding(context: TestContext, ...cookies: readonly BrowserCookie[]): Promise<CookieStore> {
  context.mock.timers.enable({ apis: ['Date'], now: NOW });
  const store = new CookieStore(temporaryFolder(context), testLogger());
  await store.put(cookies);
  return store;
}

describe('the cookies of an address', () => {
  test('are those of its domain and the ones above, and nobody else’s', async (context) => {
    const store = await holding(
      context,
      cookie('a.example', 'a'),
      cookie('sub.a.example', 'b'),
      cookie('b.example', 'c'),
    );
    for (const [host, header] of [
      ['a.example', 'a=a-value'],
      ['other.a.example', 'a=a-value'],
      ['sub.a.example', 'a=a-value; b=b-value'],
      ['b.example', 'c=c-value'],
      ...['xa.example', 'example', 'a.example.evil.example', 'evil.example'].map((each) => [each, undefined] as const),
    ] as const) {
      assert.equal(store.header(new URL(`https://${host}/`)), header, host);
    }
  });

  test('are not those of a host above that are for it alone', async (context) => {
    const store = await holding(context, cookie('a.example', 'a', { hostOnly: true }), cookie('a.example', 'b'));
    assert.equal(store.header(new URL('https://a.example/')), 'a=a-value; b=b-value');
    assert.equal(store.header(new URL('https://sub.a.example/')), 'b=b-value');
  });

  test('of an address have to be of all of it', async (context) => {
    const store = await holding(context, cookie('0.0.1', 'a'), cookie('127.0.0.1', 'b'));
    assert.equal(store.header(new URL('https://127.0.0.1/')), 'b=b-value');
  });

  test('lie at or below their path', async (context) => {
    const store = await holding(
      context,
      cookie('a.example', 'a', { path: '/x' }),
      cookie('a.example', 'b', { path: '/y/' }),
    );
    for (const [at, header] of [
      ...[['/x', 'a=a-value'] as const, ['/x/', 'a=a-value'] as const, ['/x/z', 'a=a-value'] as const],
      ...[['/y/', 'b=b-value'] as const, ['/y/z', 'b=b-value'] as const],
      ...['/', '/xx', '/y', '/z/x'].map((each) => [each, undefined] as const),
    ])
      assert.equal(store.header(new URL(at, 'https://a.example')), header, at);
  });

  test('stand in the order of their paths, the longest first: of two with one name servers read the first', async (context) => {
    const store = await holding(
      context,
      cookie('a.example', 'a', { value: 'of-all' }),
      cookie('a.example', 'b'),
      cookie('sub.a.example', 'a', { value: 'of-x', path: '/x' }),
    );
    assert.equal(store.header(new URL('https://sub.a.example/x')), 'a=of-x; a=of-all; b=b-value');
  });

  test('go by https only where they are to', async (context) => {
    const store = await holding(context, cookie('a.example', 'a', { secure: true }), cookie('a.example', 'b'));
    assert.equal(store.header(new URL('https://a.example/')), 'a=a-value; b=b-value');
    assert.equal(store.header(new URL('http://a.example/')), 'b=b-value');
  });

  test('have not expired', async (context) => {
    const store = await holding(context, cookie('a.example', 'a', { expires: SECONDS + 2 }), cookie('b.example', 'b'));
    context.mock.timers.tick(1_000);
    assert.equal(store.header(new URL('https://a.example/')), 'a=a-value');
    context.mock.timers.tick(2_000);
    assert.equal(store.header(new URL('https://a.example/')), undefined);
    assert.equal(store.header(new URL('https://b.example/')), 'b=b-value');
  });
});

describe('stored cookies', () => {
  test('are there after a restart; what cannot be read is told and left out', async (context) => {
    const folder = temporaryFolder(context);
    const store = new CookieStore(folder, testLogger());
    await store.put([cookie('a.example', 'a'), cookie('b.example', 'b'), cookie('a.example', 'c')]);
    // All of a domain are replaced, and nothing else.
    await store.put([cookie('a.example', 'd'), cookie('a.example', 'e')]);
    writeFileSync(path.join(folder, 'cookies', 'c.example.json'), '[{');
    writeFileSync(path.join(folder, 'cookies', '.half-written'), JSON.stringify([cookie('d.example', 'd')]));
    const log = testLogger();
    const again = new CookieStore(folder, log);
    await again.ready();
    for (const each of [store, again]) {
      assert.equal(each.header(new URL('https://a.example/')), 'd=d-value; e=e-value');
      assert.equal(each.header(new URL('https://b.example/')), 'b=b-value');
      assert.deepEqual([...each.values()].sort(), ['b-value', 'd-value', 'e-value']);
    }
    assert.deepEqual(
      log.lines.map(({ fields }) => fields),
      [{ file: 'c.example.json' }],
    );
  });

  test('are there after their folder was restored without the one for what is being written', async (context) => {
    const folder = temporaryFolder(context);
    await new CookieStore(folder, testLogger()).put([cookie('a.example', 'a')]);
    rmSync(path.join(folder, 'cookies', '.tmp'), { recursive: true });
    const again = new CookieStore(folder, testLogger());
    await again.ready();
    assert.equal(again.header(new URL('https://a.example/')), 'a=a-value');
    await again.put([cookie('b.example', 'b')]);
  });

  test('are the same after a restart, however many are sent at once', async (context) => {
    const folder = temporaryFolder(context);
    const store = new CookieStore(folder, testLogger());
    const sent = Array.from({ length: 30 }, (_, n) => store.put([cookie('a.example', 'a', { value: `${n}` })]));
    await Promise.all(sent);
    const again = new CookieStore(folder, testLogger());
    await again.ready();
    for (const each of [store, again]) assert.equal(each.header(new URL('https://a.example/')), 'a=29');
  });

  test('are on the disk with their name before that is promised, and leave nothing of a process that was killed', async (context) => {
    const folder = temporaryFolder(context);
    const temporary = path.join(folder, 'cookies', '.tmp');
    mkdirSync(temporary, { recursive: true });
    writeFileSync(path.join(temporary, '999999999-abc-1'), '[{"value":"secret"}]');
    const store = new CookieStore(folder, testLogger());
    await store.ready();
    assert.deepEqual(readdirSync(temporary), []);
    if (process.platform !== 'linux') return context.skip('only Linux tells which file an open one is');
    const probe = await openFile(folder);
    const { sync } = probe;
    const synced: string[] = [];
    context.mock.method(Object.getPrototypeOf(probe), 'sync', function (this: FileHandle) {
      const inside = path.relative(realpathSync(folder), readlinkSync(`/proc/self/fd/${this.fd}`));
      const isNamed = existsSync(path.join(folder, 'cookies', 'a.example.json'));
      synced.push(`${path.dirname(inside)}, ${isNamed ? 'named' : 'not named'}`);
      return sync.call(this);
    });
    await probe.close();
    await store.put([cookie('a.example', 'a')]);
    assert.deepEqual(synced, ['cookies/.tmp, not named', '., named']);
  });

  test('are kept under the longest domain there is, which is no name of a file', async (context) => {
    const folder = temporaryFolder(context);
    const longest = `${`${'a'.repeat(49)}.`.repeat(5)}abc`;
    assert.equal(longest.length, 253);
    await new CookieStore(folder, testLogger()).put([cookie(longest, 'a')]);
    const again = new CookieStore(folder, testLogger());
    await again.ready();
    assert.equal(again.header(new URL(`https://${longest}/`)), 'a=a-value');
  });

  test('are a failure of the storage where they cannot be, and leave nothing', async (context) => {
    const folder = temporaryFolder(context);
    mkdirSync(path.join(folder, 'cookies', 'a.example.json'), { recursive: true });
    const store = new CookieStore(folder, testLogger());
    await assert.rejects(store.put([cookie('a.example', 'a')]), { code: 'storage_failed' });
    assert.equal(store.header(new URL('https://a.example/')), undefined);
    assert.deepEqual(readdirSync(path.join(folder, 'cookies'), { recursive: true }).sort(), ['.tmp', 'a.example.json']);
  });

  test('are one, too, where the data folder is no folder', async (context) => {
    const file = path.join(temporaryFolder(context), 'data');
    writeFileSync(file, '');
    const store = new CookieStore(file, testLogger());
    await assert.rejects(store.put([cookie('a.example', 'a')]), { code: 'storage_failed' });
  });
});
