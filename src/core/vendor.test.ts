import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { openVendor, sealVendor, vendorText } from './vendor.ts';

const anyVendor = fc.dictionary(fc.string(), fc.dictionary(fc.string(), fc.jsonValue()));

test('what is sealed opens unchanged', () => {
  fc.assert(
    fc.property(anyVendor, (vendor) => {
      assert.deepEqual(openVendor(sealVendor(vendor)), JSON.parse(JSON.stringify(vendor)));
    }),
  );
});

test('a foreign signature, or a damaged one, is nobody’s', () => {
  const bad = ['', 'EqQBCkYIAx', 'sluice.v1.', 'sluice.v1.!!', `sluice.v1.${Buffer.from('[1]').toString('base64url')}`];
  for (const text of [...bad, `sluice.v1.${Buffer.from('{"a":1}').toString('base64url')}`]) {
    assert.equal(openVendor(text), undefined, text);
  }
});

test('a text of a vendor', () => {
  assert.equal(vendorText({ acme: { signature: 's' } }, 'acme', 'signature'), 's');
  assert.equal(vendorText({ acme: { signature: 1 } }, 'acme', 'signature'), undefined);
  assert.equal(vendorText(undefined, 'acme', 'signature'), undefined);
});
