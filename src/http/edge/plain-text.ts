/** `plain-text.wat`, compiled: `npm run build:wasm` prints it, and a test compares. */
export const COMPILED =
  'AGFzbQEAAAABBwFgAn9/AX8DAgEABQQBARERBxcCBm1lbW9yeQIACnBsYWluVW50aWwAAAphAV8CAXsBfwNAIAAgAU8EQCABDwsgAP0ABAAhAiACQSL9D/0jIAJB3AD9D/0j/VAgAkEg/Q/9Jv1Q/WQhAyADBEAgACADaGohACAAIAEgACABSRsPCyAAQRBqIQAMAAsACw==';

/** A place for one JSON text while it is looked through, and who looks. Nothing of a text is read once the next one is there. */
export interface Scratch {
  readonly bytes: Buffer;
  /** The index of the first byte in [at, end) that is a quote, a backslash or a control character; `end` if there is none. */
  plainUntil(at: number, end: number): number;
}

/** Bytes that a text may have: those of a body that need not wait for its turn (body.ts). */
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
