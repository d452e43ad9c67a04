import assert from 'node:assert/strict';
import dns from 'node:dns/promises';
import { syncBuiltinESMExports } from 'node:module';
import { describe, test } from 'node:test';
import { checkPublicAddress, isPublicAddress } from './address.ts';

describe('isPublicAddress', () => {
  for (const address of [
    '8.8.8.8',
    '1.1.1.1',
    '93.184.216.34',
    '2606:4700:4700::1111',
    '3000::1',
    '::ffff:8.8.8.8',
    '64:ff9b::808:808',
    '64:ff9b::d83a:d3ce',
  ]) {
    test(`${address} is public`, () => assert.ok(isPublicAddress(address)));
  }
  for (const address of [
    '127.0.0.1',
    '127.255.255.254',
    '0.0.0.0',
    '0.1.2.3',
    '10.0.0.1',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.1',
    '192.0.0.1',
    '192.0.2.1',
    '198.18.0.1',
    '198.51.100.1',
    '203.0.113.1',
    '224.0.0.1',
    '240.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    'fe80::1',
    'fc00::1',
    'fd12:3456::1',
    'ff02::1',
    '2001:db8::1',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '::ffff:10.0.0.1',
    '64:ff9b::7f00:1',
    '64:ff9b::a9fe:a9fe',
    // A bit beyond the prefix of NAT64.
    '64:ff9b::1:808:808',
    '2002:7f00:1::',
    '::127.0.0.1',
    'fec0::1',
    '1fff::1',
    '4000::1',
    '',
    'localhost',
    'example',
    '1.2.3.4.5',
    '8.8.8.8:80',
  ]) {
    test(`${JSON.stringify(address)} is not`, () => assert.ok(!isPublicAddress(address)));
  }
});

describe('checkPublicAddress', () => {
  for (const url of [
    'http://127.0.0.1/',
    'http://127.1/',
    'http://2130706433/',
    'http://0x7f000001/',
    'http://0177.0.0.1/',
    'http://017700000001/',
    'http://127.0.0.1.:80/',
    'http://[::1]/',
    'http://[::ffff:127.0.0.1]/',
    'http://[::ffff:7f00:1]/',
    'http://[64:ff9b::7f00:1]/',
    'http://0/',
    'http://localhost/',
    'http://LOCALHOST:1337/',
    'http://localhost./',
    'http://①②⑦.⓪.⓪.①/',
    'http://169.254.169.254/latest/meta-data',
    'http://10.0.0.1/',
    'http://no-such-host.invalid/',
    'http://user@8.8.8.8/',
    'http://user:password@8.8.8.8/',
    'ftp://8.8.8.8/',
    'file:///etc/passwd',
    'data:text/plain,x',
    'javascript:alert(1)',
    '//8.8.8.8/',
    '/media/x.png',
    'http://',
    '',
  ]) {
    test(`refuses ${JSON.stringify(url)}`, async () => {
      await assert.rejects(
        checkPublicAddress(url, 'media_url'),
        (error: { code: string; options: { param: string } }) => {
          assert.equal(error.code, 'invalid_request');
          assert.equal(error.options.param, 'media_url');
          return true;
        },
      );
    });
  }

  test('refuses a name with a private address among public ones, or with none', async (context) => {
    let found = [{ address: '8.8.8.8', family: 4 }];
    context.mock.method(dns, 'lookup', async () => found);
    syncBuiltinESMExports();
    context.after(() => {
      context.mock.restoreAll();
      syncBuiltinESMExports();
    });
    await checkPublicAddress('http://mixed.example/', 'media_url');
    found = [...found, { address: '10.0.0.1', family: 4 }];
    await assert.rejects(checkPublicAddress('http://mixed.example/', 'media_url'), { code: 'invalid_request' });
    found = [];
    await assert.rejects(checkPublicAddress('http://mixed.example/', 'media_url'), { code: 'invalid_request' });
  });

  test('cuts a long one where it is named', async () => {
    const address = `data:text/plain,${'a'.repeat(50_000)}`;
    await assert.rejects(checkPublicAddress(address, 'media_url'), /'.{200}' is not an http\(s\) address\.$/);
  });

  test('takes an address of the public Internet', async () => {
    await checkPublicAddress('https://8.8.8.8/a.png', 'media_url');
    await checkPublicAddress('http://[2606:4700:4700::1111]:8080/', 'media_url');
  });
});
