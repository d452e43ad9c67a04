import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import ipaddr from 'ipaddr.js';
import { canonical, isPublicAddress, toWebAddress } from '../../src/outbound/address.ts';
import { property } from './cases.ts';
import type { Random } from './random.ts';
import { textOf } from './refusals.ts';
import { hostile } from './schema-values.ts';

/** Networks that are nobody's on the public Internet (RFC 6890 and IANA's registries), beside what ipaddr.js knows. */
const INNER: readonly string[] = [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24'],
  ...[
    '192.0.2.0/24',
    '192.168.0.0/16',
    '198.18.0.0/15',
    '198.51.100.0/24',
    '203.0.113.0/24',
    '224.0.0.0/4',
    '240.0.0.0/4',
  ],
];
const NETWORKS = INNER.map((each) => ipaddr.IPv4.parseCIDR(each));

describe('addresses', () => {
  test('in any spelling are judged by what they mean', async () => {
    await property(2_000, (random) => {
      const bytes = random.many(4, () =>
        random.pick([0, 1, 10, 100, 127, 169, 172, 192, 198, 254, 255, random.below(256)]),
      );
      const address = new ipaddr.IPv4(bytes);
      const isInner = NETWORKS.some((network) => address.match(network));
      for (const spelling of spellingsOf(bytes, random)) {
        const url = toWebAddress(`http://${spelling}/`);
        assert.ok(url !== undefined, spelling);
        const host = url.hostname.replace(/^\[|\]$/g, '');
        if (isInner) assert.equal(isPublicAddress(host), false, `${spelling} → ${host}`);
        assert.equal(isPublicAddress(host), isPublicAddress(canonical(host)), spelling);
      }
      if (!isInner && address.range() === 'unicast')
        assert.equal(isPublicAddress(bytes.join('.')), true, bytes.join('.'));
    });
  });

  test('of version 6 that embed or tunnel inner ones are not public', async () => {
    await property(1_000, (random) => {
      const [a = 0, b = 0, c = 0, d = 0] = random.pick([
        [127, 0, 0, 1],
        [10, 1, 2, 3],
        [169, 254, 169, 254],
        [192, 168, 0, 1],
        [0, 0, 0, 0],
      ]);
      const hex = `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
      const text = random.pick([
        `::ffff:${a}.${b}.${c}.${d}`,
        `::ffff:${hex}`,
        `64:ff9b::${hex}`,
        `2002:${hex}::1`,
        `::${hex}`,
        `2001:0:${hex}::1`,
        `fe80::${hex}`,
        `fc00::${hex}`,
        `ff02::${hex}`,
        `fe80::1%eth0`,
      ]);
      assert.equal(isPublicAddress(text), false, text);
    });
  });

  test('of any text are http without credentials, or none', async () => {
    await property(1_000, (random) => {
      const text = random.chance(0.5) ? `http${random.pick(['', 's'])}:${random.text()}` : textOf(hostile(random));
      const url = toWebAddress(text);
      if (url === undefined) return;
      assert.match(url.protocol, /^https?:$/);
      assert.equal(url.username + url.password, '');
      assert.equal(isPublicAddress(text), isPublicAddress(text));
    });
  });
});

/** The ways to write an IPv4 address that the WHATWG's parser of addresses knows. */
function spellingsOf(bytes: readonly number[], random: Random): readonly string[] {
  const [a = 0, b = 0, c = 0, d = 0] = bytes;
  const whole = ((a << 24) | (b << 16) | (c << 8) | d) >>> 0;
  const part = (value: number): string =>
    random.pick([
      `${value}`,
      `0x${value.toString(16)}`,
      `0${value.toString(8)}`,
      `0X${value.toString(16).toUpperCase()}`,
    ]);
  return [
    bytes.join('.'),
    bytes.map(part).join('.'),
    part(whole),
    `${part(a)}.${part((b << 16) | (c << 8) | d)}`,
    `${part(a)}.${part(b)}.${part((c << 8) | d)}`,
    `${bytes.join('.')}.`,
    `[::ffff:${bytes.join('.')}]`,
    `[::ffff:${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}]`,
    bytes
      .join('.')
      .replace(/[0-9]/g, (digit) => (random.chance(0.2) ? String.fromCodePoint(0xff10 + Number(digit)) : digit)),
  ];
}
