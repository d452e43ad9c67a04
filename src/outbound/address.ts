import { lookup } from 'node:dns/promises';
import { networkInterfaces } from 'node:os';
import ipaddr from 'ipaddr.js';
import { SluiceError } from '../core/errors.ts';

/** Prefix under which IPv6 networks reach IPv4 addresses (RFC 6052 §2.1): the address behind it is what counts. */
const NAT64 = ipaddr.IPv6.parse('64:ff9b::');

/** All unicast addresses of the public Internet come from here (IANA's registry); `::127.0.0.1` for one does not. */
const GLOBAL_UNICAST = ipaddr.IPv6.parse('2000::');

/** All addresses of a host name, as texts. Rejects when there is none. */
export type Resolve = (host: string) => Promise<readonly string[]>;

/** Asks the operating system, so that its hosts file counts too. */
export const resolveHost: Resolve = async (host) =>
  (await lookup(host, { all: true, order: 'verbatim' })).map(({ address }) => address);

/**
 * Whether an address belongs to the public Internet. Everything else (loopback, private, link-local, carrier-grade NAT,
 * multicast, reserved, …) may be inside somebody's network. Embedded IPv4 addresses are judged as such; tunnels that
 * embed them (6to4, Teredo) and addresses with a zone are refused altogether.
 */
export function isPublicAddress(text: string): boolean {
  if (text.includes('%') || !ipaddr.isValid(text)) return false;
  const address = plain(text);
  const isIpv6 = address.kind() === 'ipv6';
  return address.range() === 'unicast' && (!isIpv6 || (address as ipaddr.IPv6).match(GLOBAL_UNICAST, 3));
}

/** Whether an address is one of this machine's own, which may be public and yet serve what is not meant for all. */
export function isOwnAddress(text: string): boolean {
  const wanted = canonical(text);
  return Object.values(networkInterfaces()).some((each) => each?.some(({ address }) => canonical(address) === wanted));
}

/** The one spelling of an address; IPv4 within IPv6 becomes plain IPv4. */
export function canonical(text: string): string {
  return ipaddr.isValid(text) ? plain(text).toString() : text;
}

/** An address; of IPv4 that is mapped into IPv6, or is reached by NAT64, what is within. */
function plain(text: string): ipaddr.IPv4 | ipaddr.IPv6 {
  const address = ipaddr.process(text);
  if (address.kind() === 'ipv4') return address;
  const v6 = address as ipaddr.IPv6;
  return v6.match(NAT64, 96) ? new ipaddr.IPv4(v6.toByteArray().slice(12)) : v6;
}

/** The host of an address as resolvers and sockets know it: IPv6 without brackets. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '');
}

/** An http(s) address without credentials; undefined when it is none. */
export function toWebAddress(text: string, base?: URL): URL | undefined {
  const url = URL.parse(text, base);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) return undefined;
  return url.username === '' && url.password === '' ? url : undefined;
}

/** The addresses behind a host, which may be an address itself. Empty when it has none. */
export async function addressesOf(host: string, resolve: Resolve): Promise<readonly string[]> {
  return ipaddr.isValid(host) ? [host] : resolve(host).catch(() => []);
}

/** Refuses an address of a client that is no http(s) address or whose host is not on the public Internet. */
export async function checkPublicAddress(text: string, param: string): Promise<void> {
  const shown = text.slice(0, 200);
  const url = toWebAddress(text);
  if (url === undefined) throw new SluiceError('invalid_request', `'${shown}' is not an http(s) address.`, { param });
  const addresses = await addressesOf(hostOf(url), resolveHost);
  if (addresses.length > 0 && addresses.every((address) => isPublicAddress(address) && !isOwnAddress(address))) return;
  throw new SluiceError('invalid_request', `'${shown}' does not lead to the public Internet.`, { param });
}
