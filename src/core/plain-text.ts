/** `plain-text.wat`, compiled: `npm run build:wasm` prints it, and a test compares. */
export const COMPILED =
  'AGFzbQEAAAABBwFgAn9/AX8DAgEABQQBARERBxcCBm1lbW9yeQIACnBsYWluVW50aWwAAAphAV8CAXsBfwNAIAAgAU8EQCABDwsgAP0ABAAhAiACQSL9D/0jIAJB3AD9D/0j/VAgAkEg/Q/9Jv1Q/WQhAyADBEAgACADaGohACAAIAEgACABSRsPCyAAQRBqIQAMAAsACw==';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** What may follow a backslash (RFC 8259 §7), beside the four digits behind a `u`. */
const ESCAPED = new Set(Buffer.from('"\\/bfnrt'));

/** A place for one JSON text while it is looked through, and who looks. Nothing of a text is read once the next one is there. */
export interface Scratch {
  readonly bytes: Buffer;
  /** The index of the first byte in [at, end) that is a quote, a backslash or a control character; `end` if there is none. */
  plainUntil(at: number, end: number): number;
}

/** Bytes that a text may have: those of a body that need not wait for its turn (http/edge/body.ts). */
export const SCRATCH_BYTES = 1024 * 1024;

/** null: there is no WebAssembly here (`--jitless`), or no room for it. */
let scratch: Scratch | null | undefined;

/** The same one for everybody. Made when the first long text comes. */
export function scratchForText(): Scratch | null {
  if (scratch === undefined) {
    try {
      scratch = make();
    } catch {
      scratch = null;
    }
  }
  return scratch;
}

function make(): Scratch {
  // Node's types do not have it.
  const { Module, Instance } = WebAssembly as unknown as {
    readonly Module: new (bytes: Buffer) => object;
    readonly Instance: new (
      module: object,
    ) => {
      readonly exports: {
        readonly memory: { readonly buffer: ArrayBuffer };
        readonly plainUntil: Scratch['plainUntil'];
      };
    };
  };
  const { exports } = new Instance(new Module(Buffer.from(COMPILED, 'base64')));
  return { bytes: Buffer.from(exports.memory.buffer, 0, SCRATCH_BYTES), plainUntil: exports.plainUntil };
}

/**
 * A string of which the first character stands at `start`: its closing quote, and where its first `most` bytes end, between
 * characters. Undefined: it is none.
 */
export function stringAt(
  { bytes, plainUntil }: Scratch,
  start: number,
  size: number,
  most: number,
): { readonly end: number; readonly keptUntil: number } | undefined {
  const enough = start + most;
  let keptUntil = -1;
  for (let at = start; ; ) {
    const run = at;
    at = plainUntil(at, size);
    // Between the characters, not within one or within an escape.
    if (keptUntil === -1 && at >= enough) keptUntil = Math.max(run, startOfCharacter(bytes, enough));
    if (at === size) return undefined;
    const byte = bytes[at];
    if (byte === QUOTE) return { end: at, keptUntil: keptUntil === -1 ? at : keptUntil };
    if (byte !== BACKSLASH) return undefined;
    const length = escapeAt(bytes, at, size);
    if (length === 0) return undefined;
    at += length;
  }
}

/** How many bytes an escape has; 0: it is none. */
function escapeAt(bytes: Buffer, at: number, size: number): number {
  const kind = bytes[at + 1] ?? 0;
  if (kind !== 0x75) return at + 1 < size && ESCAPED.has(kind) ? 2 : 0;
  for (let digit = at + 2; digit < at + 6; digit += 1) if (digit >= size || !isHex(bytes[digit] ?? 0)) return 0;
  return 6;
}

function isHex(byte: number): boolean {
  return (byte >= 0x30 && byte <= 0x39) || ((byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x66);
}

/** Where the character begins to which the byte belongs (UTF-8). */
function startOfCharacter(bytes: Buffer, at: number): number {
  let start = at;
  while (((bytes[start] ?? 0) & 0xc0) === 0x80) start -= 1;
  return start;
}
