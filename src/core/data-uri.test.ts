import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { base64Of, decodeDataUri, heldAsBase64, mimeTypeOf, readDataUri } from './data-uri.ts';

describe('data: URIs', () => {
  test('base64 and percent-encoding', () => {
    assert.equal(decodeDataUri('data:image/png;base64,aGVsbG8=', 100).toString(), 'hello');
    assert.equal(decodeDataUri('DATA:image/png;x=y;BASE64,aGVs%62G8%3D', 100).toString(), 'hello');
    assert.deepEqual(decodeDataUri('data:,a%20b%ff', 100), Buffer.from([0x61, 0x20, 0x62, 0xff]));
    assert.equal(decodeDataUri('data:image/png;base64,', 100).length, 0);
  });

  test('incomplete or too large ones are refused', () => {
    assert.throws(() => decodeDataUri('data:image/png;base64', 100), /incomplete/);
    assert.throws(() => decodeDataUri('image/png,x', 100), /incomplete/);
    assert.throws(() => decodeDataUri(`data:;base64,${'A'.repeat(200)}`, 100), /more than 100 bytes/);
    assert.throws(() => decodeDataUri(`data:,${'A'.repeat(200)}`, 100), /more than 100 bytes/);
  });

  test('the parts of an address', () => {
    for (const [url, parts] of [
      ['data:Image/PNG;base64,aGVs', { mimeType: 'image/png', isBase64: true, data: 'aGVs' }],
      ['DATA:text/plain;charset=utf-8; Base64 ,a,b', { mimeType: 'text/plain', isBase64: true, data: 'a,b' }],
      ['data:;base64,', { mimeType: '', isBase64: true, data: '' }],
      ['data:base64,x', { mimeType: 'base64', isBase64: false, data: 'x' }],
      ['data:,x', { mimeType: '', isBase64: false, data: 'x' }],
      ['data:image/png;base64', undefined],
      ['https://example.org/data:,x', undefined],
    ] as const) {
      assert.deepEqual(readDataUri(url), parts, url);
    }
    assert.equal(base64Of('data:,x'), undefined);
    assert.deepEqual(['data:,%78', 'data:;base64,eA==', 'x'].map(heldAsBase64), ['eA==', 'eA==', undefined]);
    assert.deepEqual(
      [mimeTypeOf('data:image/gif,x'), mimeTypeOf('data:,x'), mimeTypeOf('x')],
      [{ mimeType: 'image/gif' }, {}, {}],
    );
  });

  test('what is no escape stays as it is', () => {
    assert.equal(decodeDataUri('data:,100%', 100).toString(), '100%');
    assert.equal(decodeDataUri('data:,%zz%4%41ä', 100).toString(), '%zz%4Aä');
  });

  test('millions of escapes take one buffer', () => {
    const bytes = decodeDataUri(`data:image/png,${'%41a'.repeat(2_000_000)}`, 50_000_000);
    assert.equal(bytes.length, 4_000_000);
    assert.ok(bytes.every((byte, index) => byte === (index % 2 === 0 ? 0x41 : 0x61)));
  });
});
