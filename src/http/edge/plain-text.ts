/** `plain-text.wat`, compiled: `npm run build:wasm` prints it, and a test compares. */
export const COMPILED =
  'AGFzbQEAAAABBwFgAn9/AX8DAgEABQQBARERBxcCBm1lbW9yeQIACnBsYWluVW50aWwAAAphAV8CAXsBfwNAIAAgAU8EQCABDwsgAP0ABAAhAiACQSL9D/0jIAJB3AD9D/0j/VAgAkEg/Q/9Jv1Q/WQhAyADBEAgACADaGohACAAIAEgACABSRsPCyAAQRBqIQAMAAsACw==';

/** A place for one JSON text while it is looked through, and who looks. Nothing of a text is read once the next one is there. */
export interface Scratch {
  readonly bytes: Buffer;
  /** The index of the first byte in [at, end) that is a quote, a backslash or a control character; `end` if there is none. */
  plainUntil(at: number, end: number): number;
}

/** Bytes that a text may have. */
export const SCRATCH_BYTES = 1024 * 1024;

let scratch: Scratch | undefined;

/** The same one for everybody. Made when the first long text comes. */
export function scratchForText(): Scratch {
  scratch ??= make();
  return scratch;
}

function make(): Scratch {
  const { exports } = new Instance(new WebAssembly.Module(Buffer.from(COMPILED, 'base64')));
  return { bytes: Buffer.from(exports.memory.buffer, 0, SCRATCH_BYTES), plainUntil: exports.plainUntil };
}

/** Node's types do not have it. */
const { Instance } = WebAssembly as unknown as {
  readonly Instance: new (
    module: WebAssembly.Module,
  ) => {
    readonly exports: { readonly memory: { readonly buffer: ArrayBuffer }; readonly plainUntil: Scratch['plainUntil'] };
  };
};
