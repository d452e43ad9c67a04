import type { VendorData } from '../../core/chat.ts';
import { openVendor, sealVendor, vendorText } from '../../core/vendor.ts';

/**
 * Vendor data as a `thoughtSignature`: Google's own byte for byte, anybody else's sealed. The API calls the field bytes, so
 * typed clients refuse what is no base64.
 */
export function toSignature(vendor: VendorData | undefined): { thoughtSignature?: string } {
  if (vendor === undefined || isEmpty(vendor)) return {};
  const own = vendorText(vendor, 'google', 'thoughtSignature');
  return { thoughtSignature: own ?? Buffer.from(sealVendor(vendor)).toString('base64') };
}

/** Whether no vendor attached anything. */
export function isEmpty(vendor: VendorData): boolean {
  return Object.values(vendor).every((data) => Object.keys(data).length === 0);
}

/** What `toSignature` made, or Google's own signature. */
export function fromSignature(signature: string | undefined): VendorData | undefined {
  if (signature === undefined || signature === '') return undefined;
  const text = Buffer.from(signature, 'base64').toString('latin1');
  return openVendor(text) ?? { google: { thoughtSignature: signature } };
}
