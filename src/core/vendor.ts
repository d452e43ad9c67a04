import type { VendorData } from './chat.ts';
import { isObject, parseObject } from './objects.ts';

/** Marks text of ours, so that it cannot be taken for a vendor's own signature. */
const PREFIX = 'sluice.v1.';

/**
 * Vendor data as one opaque text, for wire formats that have a place for a signature but not for whose it is. Clients hand
 * it back unchanged.
 */
export function sealVendor(vendor: VendorData): string {
  return PREFIX + Buffer.from(JSON.stringify(vendor)).toString('base64url');
}

/** In the place of a signature, where nobody signed: clients take thoughts without one for a text, or for nothing. */
export const UNSIGNED = sealVendor({});

/** What `sealVendor` sealed. Undefined for any other text: a vendor's own signature. */
export function openVendor(text: string): VendorData | undefined {
  if (!text.startsWith(PREFIX)) return undefined;
  const value = parseObject(Buffer.from(text.slice(PREFIX.length), 'base64url').toString('utf8'));
  return isVendorData(value) ? value : undefined;
}

/** That a cache of Anthropic's ends with a part: what takes the place of that part ends it, too. */
export function cacheMark({ vendor }: { readonly vendor?: VendorData }): { readonly vendor?: VendorData } {
  const cacheControl = vendor?.['anthropic']?.['cacheControl'];
  return cacheControl === undefined ? {} : { vendor: { anthropic: { cacheControl } } };
}

/** A text that a vendor attached, if it is there. */
export function vendorText(vendor: VendorData | undefined, name: string, field: string): string | undefined {
  const value = vendor?.[name]?.[field];
  return typeof value === 'string' ? value : undefined;
}

/** Whether it has the form of vendor data: members by vendor. */
export function isVendorData(value: unknown): value is VendorData {
  return isObject(value) && Object.values(value).every(isObject);
}
