/**
 * Runs a program compiled for WASI in memory alone: its only contact with the world are its arguments, the files that
 * it writes, which are ours to read, and what it says on stdout. It has no clock, no randomness and no disk. The
 * numbers are those of WASI preview 1 (github.com/WebAssembly/WASI, legacy/preview1/docs.md). Node's own `node:wasi`
 * would give it a real directory, and warns on the terminal that it is experimental.
 */

/** What a program left behind. */
export interface Run {
  readonly exitCode: number;
  readonly files: ReadonlyMap<string, Uint8Array>;
  /** The beginning of stdout and stderr. */
  readonly output: string;
}

const SUCCESS = 0;
const BAD_DESCRIPTOR = 8;
const NO_ENTRY = 44;
const NOT_SEEKABLE = 70;

const CHARACTER_DEVICE = 2;
const DIRECTORY = 3;
const REGULAR_FILE = 4;

const ROOT = 3;
const CREATE = 1;
/** Characters of output that are kept. */
const LONGEST_OUTPUT = 4_000;

class Exit extends Error {
  readonly code: number;

  constructor(code: number) {
    super(`exit ${code}`);
    this.code = code;
  }
}

/** Bytes that a program writes one after the other. */
class WrittenFile {
  #pieces: Uint8Array[] = [];
  size = 0;

  append(bytes: Uint8Array): void {
    this.#pieces.push(bytes);
    this.size += bytes.length;
  }

  bytes(): Uint8Array {
    return this.#pieces.length === 1 && this.#pieces[0] !== undefined ? this.#pieces[0] : Buffer.concat(this.#pieces);
  }
}

/**
 * Runs `module` to its end with `args` (the first is its own name). Throws what WebAssembly throws when the program does
 * something impossible, and a RangeError when it writes more than `mostBytes`; nothing of it remains then.
 */
export async function runWasi(module: WebAssembly.Module, args: readonly string[], mostBytes: number): Promise<Run> {
  const host = new Host(args, mostBytes);
  const { exports } = await WebAssembly.instantiate(module, { wasi_snapshot_preview1: { ...host.functions } });
  const { memory, _start: start } = exports;
  if (!(memory instanceof WebAssembly.Memory) || typeof start !== 'function') throw new Error('not a WASI program');
  host.memory = memory;
  try {
    start();
    return host.result(0);
  } catch (thrown) {
    if (thrown instanceof Exit) return host.result(thrown.code);
    throw thrown;
  }
}

class Host {
  memory: WebAssembly.Memory | undefined;
  readonly #args: readonly Uint8Array[];
  readonly #mostBytes: number;
  readonly #files = new Map<string, WrittenFile>();
  readonly #open = new Map<number, WrittenFile>();
  #nextDescriptor = ROOT + 1;
  #written = 0;
  #output = '';

  constructor(args: readonly string[], mostBytes: number) {
    const encoder = new TextEncoder();
    this.#args = args.map((arg) => encoder.encode(`${arg.replaceAll('\0', ' ')}\0`));
    this.#mostBytes = mostBytes;
  }

  result(exitCode: number): Run {
    const files = new Map([...this.#files].map(([name, file]) => [name, file.bytes()] as const));
    return { exitCode, files, output: this.#output };
  }

  /** All pointers are addresses in the program's memory; what is returned is an error number. */
  readonly functions = {
    args_sizes_get: (count: number, size: number): number => {
      this.#putNumber(count, this.#args.length);
      const bytes = this.#args.reduce((sum, arg) => sum + arg.length, 0);
      return this.#putNumber(size, bytes);
    },
    args_get: (pointers: number, text: number): number => {
      let to = text;
      for (const [index, arg] of this.#args.entries()) {
        this.#putNumber(pointers + 4 * index, to);
        this.#bytes().set(arg, to);
        to += arg.length;
      }
      return SUCCESS;
    },
    clock_time_get: (_clock: number, _precision: bigint, time: number): number => this.#putLong(time, 0n),
    fd_close: (descriptor: number): number => (this.#open.delete(descriptor) ? SUCCESS : BAD_DESCRIPTOR),
    fd_fdstat_get: (descriptor: number, stat: number): number => {
      this.#bytes().fill(0, stat, stat + 24);
      this.#view().setUint8(stat, this.#kindOf(descriptor));
      const allRights = 0xffff_ffff_ffff_ffffn;
      this.#putLong(stat + 8, allRights);
      return this.#putLong(stat + 16, allRights);
    },
    fd_fdstat_set_flags: (): number => SUCCESS,
    fd_prestat_get: (descriptor: number, prestat: number): number => {
      if (descriptor !== ROOT) return BAD_DESCRIPTOR;
      this.#putNumber(prestat, 0);
      return this.#putNumber(prestat + 4, 1);
    },
    fd_prestat_dir_name: (_descriptor: number, path: number): number => {
      this.#bytes()[path] = '/'.charCodeAt(0);
      return SUCCESS;
    },
    // There is nothing to read: neither stdin nor a file that was there before.
    fd_read: (_descriptor: number, _vectors: number, _count: number, read: number): number => this.#putNumber(read, 0),
    fd_seek: (): number => NOT_SEEKABLE,
    fd_write: (descriptor: number, vectors: number, count: number, written: number): number => {
      const file = this.#open.get(descriptor);
      if (file === undefined && descriptor > 2) return BAD_DESCRIPTOR;
      let size = 0;
      for (let index = 0; index < count; index += 1) {
        const from = this.#view().getUint32(vectors + 8 * index, true);
        const length = this.#view().getUint32(vectors + 8 * index + 4, true);
        size += length;
        if (this.#written + size > this.#mostBytes) throw new RangeError('the program writes without end');
        const bytes = this.#bytes().slice(from, from + length);
        if (file === undefined) this.#say(bytes);
        else file.append(bytes);
      }
      this.#written += size;
      return this.#putNumber(written, size);
    },
    path_open: (
      directory: number,
      _lookup: number,
      path: number,
      length: number,
      how: number,
      _rights: bigint,
      _inheriting: bigint,
      _flags: number,
      descriptor: number,
    ): number => {
      if (directory !== ROOT) return BAD_DESCRIPTOR;
      if ((how & CREATE) === 0) return NO_ENTRY;
      const name = new TextDecoder().decode(this.#bytes().slice(path, path + length));
      const file = new WrittenFile();
      this.#files.set(name, file);
      this.#open.set(this.#nextDescriptor, file);
      this.#putNumber(descriptor, this.#nextDescriptor);
      this.#nextDescriptor += 1;
      return SUCCESS;
    },
    proc_exit: (code: number): never => {
      throw new Exit(code);
    },
  };

  #kindOf(descriptor: number): number {
    if (descriptor === ROOT) return DIRECTORY;
    return descriptor < ROOT ? CHARACTER_DEVICE : REGULAR_FILE;
  }

  #say(bytes: Uint8Array): void {
    if (this.#output.length < LONGEST_OUTPUT) this.#output += new TextDecoder().decode(bytes).slice(0, LONGEST_OUTPUT);
  }

  /** The memory moves when it grows, so views of it are made anew each time. */
  #bytes(): Uint8Array {
    return new Uint8Array(this.#buffer());
  }

  #view(): DataView {
    return new DataView(this.#buffer());
  }

  #buffer(): ArrayBuffer {
    if (this.memory === undefined) throw new Error('the program runs before it is there');
    return this.memory.buffer;
  }

  #putNumber(pointer: number, value: number): number {
    this.#view().setUint32(pointer, value, true);
    return SUCCESS;
  }

  #putLong(pointer: number, value: bigint): number {
    this.#view().setBigUint64(pointer, value, true);
    return SUCCESS;
  }
}
