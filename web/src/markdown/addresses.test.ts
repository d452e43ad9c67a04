import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { linkAddress } from './addresses.ts';

const ORIGIN = 'http://127.0.0.1:1337';

describe('addresses in an answer', () => {
  before(() => Object.assign(globalThis, { location: new URL(ORIGIN) }));
  after(() => Reflect.deleteProperty(globalThis, 'location'));

  test('a link leads to another site, to a person, or to media of this server', () => {
    for (const address of [
      'https://example.com/a?b#c',
      'http://127.0.0.1:8080/backend-api/v2/version',
      'mailto:a@example.com',
      'tel:+1',
    ]) {
      assert.equal(linkAddress(` ${address} `), address);
    }
    assert.equal(linkAddress('/media/a.png'), '/media/a.png');
    assert.equal(linkAddress(`${ORIGIN}/media/a.png?x=1`), '/media/a.png?x=1');
  });

  test('a link leads nowhere else on this server, however it is written', () => {
    for (const address of [
      '/backend-api/v2/create?prompt=x',
      `${ORIGIN}/backend-api/v2/create?prompt=x`,
      `${ORIGIN}/media/../backend-api/v2/create?prompt=x`,
      `${ORIGIN}/media/%2e%2e/backend-api/v2/create?prompt=x`,
      `${ORIGIN}\\backend-api\\v2\\create?prompt=x`,
      'HTTP://127.0.0.1:1337/backend-api/v2/create?prompt=x',
      'http://user:word@127.0.0.1:1337/backend-api/v2/create?prompt=x',
      'http://127.1:1337/backend-api/v2/create?prompt=x',
      'http://0x7f.0.0.1:1337/?key=x',
      `${ORIGIN}`,
      'http:/backend-api/v2/create',
      'http:backend-api',
      '//127.0.0.1:1337/backend-api/v2/create',
      'http://',
      'javascript:x',
    ]) {
      assert.equal(linkAddress(address), undefined, address);
    }
  });
});
