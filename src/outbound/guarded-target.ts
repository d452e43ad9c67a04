import { SluiceError } from '../core/errors.ts';
import { addressesOf, hostOf, type Resolve, toWebAddress } from './address.ts';

/** What decides where a guarded fetch may go. */
export interface Guard {
  readonly resolve: Resolve;
  /** Whether an address may be connected to. */
  readonly isPublic: (address: string) => boolean;
}

/** A hop that passed the guard: where it leads by name, and the only addresses its connection may go to. */
export interface Target {
  readonly url: URL;
  readonly addresses: readonly string[];
}

/** Which hop it is: the address that was asked for, or where a redirect points. */
export interface Hop {
  readonly text: string;
  readonly from?: URL;
}

/**
 * Judges one hop. The host is resolved once, here; every address it has must be public, since a name with both kinds is
 * a trick. The connection later goes to these addresses and asks nobody again (DNS rebinding).
 */
export async function judge(hop: Hop, allowedOrigins: readonly string[], guard: Guard): Promise<Target> {
  const url = toWebAddress(hop.text, hop.from);
  if (url === undefined) throw refusal(hop, 'is not an http(s) address without credentials');
  const addresses = await addressesOf(hostOf(url), guard.resolve);
  if (addresses.length === 0) {
    throw new SluiceError('upstream_unreachable', `The host name '${shorten(url.hostname)}' could not be resolved.`);
  }
  if (!allowedOrigins.includes(url.origin) && !addresses.every(guard.isPublic)) {
    throw refusal(hop, 'does not lead to the public Internet');
  }
  return { url, addresses };
}

/** An address as messages show it: its query may hold a signature. */
export function shown(url: URL): string {
  return shorten(`${url.origin}${url.pathname}`);
}

function refusal(hop: Hop, why: string): SluiceError {
  if (hop.from === undefined) return new SluiceError('invalid_request', `'${shorten(hop.text)}' ${why}.`);
  return new SluiceError('upstream_invalid', `'${shown(hop.from)}' redirects to an address that ${why}.`);
}

function shorten(text: string): string {
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}
