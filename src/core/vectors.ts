import type { Vector } from './embedding.ts';
import { SluiceError } from './errors.ts';

const FLOAT_BYTES = 4;
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** A vector as base64 of its 32 bit floats, little-endian. What is base64 already stays, byte for byte. */
export function toBase64(vector: Vector): string {
  if (typeof vector === 'string') return vector;
  const bytes = Buffer.allocUnsafe(vector.length * FLOAT_BYTES);
  for (const [index, value] of vector.entries()) {
    // What no 32 bit float can hold would become infinite.
    if (!Number.isFinite(Math.fround(value))) throw unreadable();
    bytes.writeFloatLE(value, index * FLOAT_BYTES);
  }
  return bytes.toString('base64');
}

/** The numbers of a vector; those from base64 are exactly its 32 bit floats. */
export function toNumbers(vector: Vector): readonly number[] {
  if (typeof vector !== 'string') return vector;
  const bytes = Buffer.from(vector, 'base64');
  if (!BASE64.test(vector) || bytes.length % FLOAT_BYTES !== 0) throw unreadable();
  return Array.from({ length: bytes.length / FLOAT_BYTES }, (_, index) => {
    const value = bytes.readFloatLE(index * FLOAT_BYTES);
    if (Number.isFinite(value)) return value;
    throw unreadable();
  });
}

/** A vector as JSON text. Each number comes back exactly, the sign of zero included, which `JSON.stringify` would drop. */
export function vectorJson(vector: Vector, encoding: 'float' | 'base64'): string {
  if (encoding === 'base64') return JSON.stringify(toBase64(vector));
  return `[${toNumbers(vector)
    .map((value) => (Object.is(value, -0) ? '-0' : String(value)))
    .join(',')}]`;
}

function unreadable(): SluiceError {
  return new SluiceError('upstream_invalid', 'The provider sent a vector that cannot be read.');
}
