/** Writes the GGUF container (version 3), as far as a small llama model needs it: metadata, tensor list, aligned data. */

/** A metadata value with the type it is stored as. */
export type GgufValue =
  | { readonly kind: 'u32' | 'i32' | 'f32'; readonly value: number }
  | { readonly kind: 'bool'; readonly value: boolean }
  | { readonly kind: 'string'; readonly value: string }
  | { readonly kind: 'strings'; readonly value: readonly string[] }
  | { readonly kind: 'i32s' | 'f32s'; readonly value: readonly number[] };

export interface GgufTensor {
  readonly name: string;
  /** Fastest-running dimension first, as ggml counts them. */
  readonly shape: readonly number[];
  readonly values: Float32Array;
  /** Bytes per value on disk: `f32` 4, `f16` 2. */
  readonly type: 'f32' | 'f16';
}

// Numbers from the GGUF specification: metadata value types and ggml tensor types.
const VALUE_TYPE = { u32: 4, i32: 5, f32: 6, bool: 7, string: 8, array: 9 } as const;
const TENSOR_TYPE = { f32: 0, f16: 1 } as const;
const ALIGNMENT = 32;

/** The whole file. */
export function encodeGguf(metadata: Readonly<Record<string, GgufValue>>, tensors: readonly GgufTensor[]): Buffer {
  const head: Buffer[] = [Buffer.from('GGUF'), u32(3), u64(tensors.length), u64(Object.keys(metadata).length)];
  for (const [key, value] of Object.entries(metadata)) head.push(text(key), encodeValue(value));
  const data: Buffer[] = [];
  let offset = 0;
  for (const tensor of tensors) {
    const bytes = padded(encodeTensor(tensor));
    head.push(text(tensor.name), u32(tensor.shape.length), ...tensor.shape.map(u64));
    head.push(u32(TENSOR_TYPE[tensor.type]), u64(offset));
    data.push(bytes);
    offset += bytes.length;
  }
  return Buffer.concat([padded(Buffer.concat(head)), ...data]);
}

function encodeValue(value: GgufValue): Buffer {
  switch (value.kind) {
    case 'u32':
      return Buffer.concat([u32(VALUE_TYPE.u32), u32(value.value)]);
    case 'i32':
      return Buffer.concat([u32(VALUE_TYPE.i32), i32(value.value)]);
    case 'f32':
      return Buffer.concat([u32(VALUE_TYPE.f32), f32(value.value)]);
    case 'bool':
      return Buffer.concat([u32(VALUE_TYPE.bool), Buffer.from([value.value ? 1 : 0])]);
    case 'string':
      return Buffer.concat([u32(VALUE_TYPE.string), text(value.value)]);
    case 'strings':
      return encodeArray(VALUE_TYPE.string, value.value.map(text));
    case 'i32s':
      return encodeArray(VALUE_TYPE.i32, value.value.map(i32));
    case 'f32s':
      return encodeArray(VALUE_TYPE.f32, value.value.map(f32));
  }
}

function encodeArray(elementType: number, elements: readonly Buffer[]): Buffer {
  return Buffer.concat([u32(VALUE_TYPE.array), u32(elementType), u64(elements.length), ...elements]);
}

function encodeTensor(tensor: GgufTensor): Buffer {
  const values = tensor.type === 'f16' ? new Float16Array(tensor.values) : tensor.values;
  return Buffer.from(values.buffer, values.byteOffset, values.byteLength);
}

function padded(bytes: Buffer): Buffer {
  const missing = (ALIGNMENT - (bytes.length % ALIGNMENT)) % ALIGNMENT;
  return missing === 0 ? bytes : Buffer.concat([bytes, Buffer.alloc(missing)]);
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function i32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32LE(value);
  return bytes;
}

function f32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeFloatLE(value);
  return bytes;
}

function u64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([u64(bytes.length), bytes]);
}
