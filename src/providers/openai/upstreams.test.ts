import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Upstream, upstreams } from './upstreams.ts';

const rows: readonly (readonly [id: string, row: Upstream])[] = Object.entries(upstreams);

describe('upstreams', () => {
  for (const [id, row] of rows) {
    test(id, () => {
      assert.match(id, /^[a-z][a-z0-9-]*$/);
      const filled = row.baseUrl.replace(/\$\{[A-Z][A-Z0-9_]*\}/g, 'filled');
      const url = new URL(filled);
      assert.equal(
        url.href.replace(/\/$/, ''),
        filled,
        'absolute, normal, without a trailing slash or placeholders left',
      );
      assert.equal(url.search + url.hash + url.username + url.password, '');
      if (row.modelsPath !== undefined) assert.match(row.modelsPath, /^\/[^/]/);
      if (row.activation === 'local') {
        assert.equal(url.hostname, '127.0.0.1');
        assert.equal(row.needsKey, false);
        assert.ok(row.ports?.includes(Number(url.port)));
      } else {
        // A key must never travel in the clear.
        assert.equal(url.protocol, 'https:');
        assert.ok(row.key !== undefined || row.activation === 'configured', 'something must switch it on');
      }
      if (row.models !== undefined && row.defaultModel !== undefined) assert.ok(row.models.includes(row.defaultModel));
    });
  }

  test('no variable switches on two providers', () => {
    const keys = rows.map(([, row]) => row.key).filter((key) => key !== undefined);
    assert.deepEqual(keys, [...new Set(keys)]);
    for (const key of keys) assert.match(key, /^[A-Z][A-Z0-9_]+$/);
  });
});
