import { lookup } from 'node:dns/promises';
import ipaddr from 'ipaddr.js';
import { SluiceError } from '../core/errors.ts';

/** Prefix under which IPv6 networks reach IPv4 addresses (RFC 6052 §2.1): the address behind it is what counts. */
const NAT64 = ipaddr.IPv6.parse('64:ff9b::');

/**
 * Whether an address belongs to the public Internet. Everything else (loopback, private, link-local, carrier-grade NAT,
 * multicast, reserved, …) may be inside somebody's network. Embedded IPv4 addresses are judged as such.
 */
export function isPublicAddress(text: string): boolean {
  if (!ipaddr.isValid(text)) return false;
  const address = ipaddr.process(text);
  if (address.kind() === 'ipv4') return address.range() === 'unicast';
  const v6 = address as ipaddr.IPv6;
  if (v6.match(NAT64, 96)) return new ipaddr.IPv4(v6.toByteArray().slice(12)).range() === 'unicast';
  return v6.range() === 'unicast';
}

/** Refuses an address of a client that is no http(s) address or whose host is not on the public Internet. */
export async function checkPublicAddress(text: string, param: string): Promise<void> {
  const shown = text.slice(0, 200);
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (
    url === undefined ||
    (url.protocol !== 'http:' && url.protocol !== 'https:') ||
    url.username !== '' ||
    url.password !== ''
  ) {
    throw new SluiceError('invalid_request', `'${shown}' is not an http(s) address.`, { param });
  }
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const addresses = ipaddr.isValid(host) ? [{ address: host }] : await lookup(host, { all: true }).catch(() => []);
  if (addresses.length > 0 && addresses.every(({ address }) => isPublicAddress(address))) return;
  throw new SluiceError('invalid_request', `'${shown}' does not lead to the public Internet.`, { param });
}
