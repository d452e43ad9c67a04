import ipaddr from 'ipaddr.js';
import { isLoopbackName } from '../config/bind.ts';
import type { ProxyAddress, ProxyConfig } from '../config/proxy.ts';

/** The proxy that leads to an origin; undefined: none. This machine is always reached directly. */
export function proxyTo(
  { protocol, hostname, port }: URL,
  { https, http, direct }: ProxyConfig,
): ProxyAddress | undefined {
  const proxy = protocol === 'https:' ? https : http;
  if (proxy === undefined) return undefined;
  const host = hostname.replace(/^\[|\]$|\.$/g, '');
  if (isLoopbackName(host)) return undefined;
  const given = port === '' ? (protocol === 'https:' ? '443' : '80') : port;
  return direct.some((entry) => covers(entry, host, given)) ? undefined : proxy;
}

/** Whether an entry of `NO_PROXY` stands for a host. */
function covers(entry: string, host: string, port: string): boolean {
  if (entry === '*') return true;
  if (ipaddr.isValid(host)) return isIn(host, entry) || isIn(host, withoutPort(entry, port));
  const name = withoutPort(entry, port)
    .replace(/^\*?\./, '')
    .replace(/\.$/, '');
  return host === name || host.endsWith(`.${name}`);
}

/** The entry without the port that it names; empty where it is another one. */
function withoutPort(entry: string, port: string): string {
  const [, name = '', named] = /^(.*?):(\d+)$/.exec(entry) ?? [undefined, entry];
  return (named === undefined || named === port ? name : '').replace(/^\[|\]$/g, '');
}

/** Whether an address is the one, or in the range, that is written there. */
function isIn(host: string, entry: string): boolean {
  const address = ipaddr.process(host);
  if (ipaddr.isValidCIDR(entry)) {
    const [base, bits] = ipaddr.parseCIDR(entry);
    return base.kind() === address.kind() && address.match(base, bits);
  }
  return ipaddr.isValid(entry) && ipaddr.process(entry).toNormalizedString() === address.toNormalizedString();
}
