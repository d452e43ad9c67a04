import { SluiceError } from '../core/errors.ts';
import { fileAge } from '../core/file-age.ts';
import { Locks } from '../core/locks.ts';
import { parseObject } from '../core/objects.ts';
import { collectBytes } from '../core/pieces.ts';
import { Removals } from '../core/removals.ts';
import type { FileInfo, Files, UploadRecord } from '../core/stores.ts';
import { uploadIdOf } from '../core/upload-address.ts';
import { isSeenBy, type NewUpload, newUploadName, type Uploads } from './uploads.ts';

/** Where the pieces are, below the folder of files: a folder for each file that is under way. */
export const PIECES_FOLDER = 'sending';
/** Files that may be under way at a time, whoever sends them. */
const MOST_UNDER_WAY = 100;
/** The share of one client, so that it cannot keep the others from sending theirs. */
const MOST_OF_CLIENT = 20;
/** When a place may be free, in seconds: files take their time. */
const BUSY_SECONDS = 10;
/** A file of which nothing has come for so long is forgotten. */
const ABANDONED_MS = 60 * 60_000;
const ABOUT = 'about.json';
const NAME = /^[0-9a-f]{48}$/;

/** What is said of a file before it comes. */
export interface Announced extends Omit<NewUpload, 'bytes' | 'id'> {
  /** Bytes; absent: it is not said. */
  readonly size?: number;
}

/** What is kept of a file under way. */
interface Kept extends Announced {
  readonly owner: string | null;
  /** Whose share it counts for, where it does for anybody's. */
  readonly client?: string | undefined;
}

interface ResumableDeps {
  readonly files: Files;
  readonly uploads: Uploads;
  readonly owner: () => string | null;
  /** The most bytes that a file may have. */
  readonly mostBytes: () => number;
  readonly age?: typeof fileAge;
}

/** Removes what has come of files whose clients stopped sending. Returns the names of those still under way, and what was removed. */
export async function removeAbandoned(
  files: Files,
  age = fileAge,
): Promise<{ readonly underWay: readonly string[]; readonly removals: Removals }> {
  const last = new Map<string, number>();
  for await (const { path, modified } of files.list(PIECES_FOLDER)) {
    const [, name = ''] = path.split('/');
    last.set(name, Math.max(modified, last.get(name) ?? 0));
  }
  const removals = new Removals();
  const underWay: string[] = [];
  for (const [name, modified] of last) {
    if (age(modified) > ABANDONED_MS) await removals.add(() => files.delete(folderOf(name)));
    else underWay.push(name);
  }
  return { underWay, removals };
}

/**
 * Files that come piece by piece, in requests of their own. Every piece is on disk when its request is answered, so that
 * any process can take the next one, and a client that lost its connection asks how much is there, and goes on.
 */
export class ResumableUploads {
  readonly #deps: ResumableDeps;
  readonly #ending = new Set<string>();
  /** Of two pieces that come at once for the same place the first takes it; among processes, whichever is on the disk first. */
  readonly #appends = new Locks();
  /** Of two files that begin at once the second counts the first. Each further process may be too late for one. */
  readonly #begins = new Locks();

  constructor(deps: ResumableDeps) {
    this.#deps = deps;
  }

  /**
   * The name under which its pieces are to come; see `uploadIdOf`.
   *
   * @param client whose share it counts for; absent: nobody's
   */
  async begin(about: Announced, client?: string): Promise<string> {
    if (about.size !== undefined) this.#checkSize(about.size);
    return await this.#begins.run('', () => this.#begin(about, client));
  }

  async #begin(about: Announced, client: string | undefined): Promise<string> {
    const { underWay } = await removeAbandoned(this.#deps.files, this.#deps.age);
    if (client !== undefined && (await this.#isShareUsed(underWay, client))) {
      throw new SluiceError(
        'rate_limited',
        `One client sends at most ${MOST_OF_CLIENT} files at once. Finish or cancel some of yours.`,
        { retryAfter: BUSY_SECONDS },
      );
    }
    if (underWay.length >= MOST_UNDER_WAY) {
      throw new SluiceError('overloaded', `${MOST_UNDER_WAY} files are being sent already. Finish or cancel them.`, {
        retryAfter: BUSY_SECONDS,
      });
    }
    const name = newUploadName();
    const kept: Kept = { ...about, owner: this.#deps.owner(), client };
    await this.#deps.files.write(`${folderOf(name)}/${ABOUT}`, [Buffer.from(JSON.stringify(kept))]);
    return name;
  }

  /** Whether as many of these files are the client's as one may send. */
  async #isShareUsed(underWay: readonly string[], client: string): Promise<boolean> {
    if (underWay.length < MOST_OF_CLIENT) return false;
    let own = 0;
    for (const name of underWay) if ((await this.#kept(name))?.client === client) own += 1;
    return own >= MOST_OF_CLIENT;
  }

  /** How many bytes are there. */
  async received(name: string): Promise<number> {
    await this.#about(name);
    return total(await this.#pieces(name));
  }

  /** Takes the bytes from `offset` on, which has to be where the last piece ended. Returns how many there are then. */
  append(name: string, offset: number, bytes: Uint8Array): Promise<number> {
    return this.#appends.run(name, () => this.#append(name, offset, bytes));
  }

  async #append(name: string, offset: number, bytes: Uint8Array): Promise<number> {
    await this.#about(name);
    const pieces = await this.#pieces(name);
    // Whoever did not get our answer sends the same again.
    const isRepeated = pieces.some((piece) => offsetOf(piece) === offset && piece.size === bytes.length);
    const there = total(pieces);
    if (isRepeated) return there;
    if (offset !== there) {
      throw new SluiceError('invalid_request', `There are ${there} bytes, so the offset must be ${there}.`, {
        param: 'offset',
      });
    }
    this.#checkSize(offset + bytes.length);
    if (bytes.length === 0) return there;
    try {
      await this.#deps.files.write(pieceAt(name, offset), [bytes], { onlyNew: true });
    } catch (error) {
      if (total(await this.#pieces(name)) === there) throw error;
      // Another process has taken a piece for this place meanwhile: it may be the same.
      return await this.#append(name, offset, bytes);
    }
    return offset + bytes.length;
  }

  /** The file, all of which has come. Its pieces are gone then. Whoever did not get our answer asks again, and gets the same. */
  async finish(name: string): Promise<UploadRecord> {
    const before = await this.#completed(name);
    if (before !== undefined) return before;
    const { owner: _, client: __, size, ...about } = await this.#about(name);
    if (this.#ending.has(name)) throw new SluiceError('conflict', 'This file is being completed already.');
    this.#ending.add(name);
    try {
      const bytes = await this.#joined(name, size);
      // Pieces that another process has removed are missing in these bytes, and its file is there.
      const meanwhile = await this.#completed(name);
      if (meanwhile !== undefined) return meanwhile;
      const record = await this.#deps.uploads.add({ ...about, id: uploadIdOf(name), bytes });
      await this.#deps.files.delete(folderOf(name));
      return record;
    } catch (error) {
      const meanwhile = await this.#completed(name);
      if (meanwhile === undefined) throw error;
      return meanwhile;
    } finally {
      this.#ending.delete(name);
    }
  }

  /** Forgets what has come. */
  async cancel(name: string): Promise<void> {
    await this.#about(name);
    await this.#deps.files.delete(folderOf(name));
  }

  #completed(name: string): Promise<UploadRecord | undefined> {
    return this.#deps.uploads.find(uploadIdOf(name));
  }

  /** All that has come. Throws where it is not as much as was announced. */
  async #joined(name: string, size: number | undefined): Promise<Buffer> {
    const pieces = await this.#pieces(name);
    const there = total(pieces);
    if (size !== undefined && size !== there) {
      throw new SluiceError('invalid_request', `${size} bytes were announced, and ${there} have come.`, {
        param: 'size',
      });
    }
    const bytes: Uint8Array[] = [];
    for (const { path } of pieces) {
      const piece = await this.#deps.files.open(path);
      if (piece === undefined) throw missing(name);
      bytes.push(await collectBytes(piece.body));
    }
    return Buffer.concat(bytes);
  }

  async #about(name: string): Promise<Kept> {
    const kept = await this.#kept(name);
    if (kept === undefined || !isSeenBy(kept, this.#deps.owner())) throw missing(name);
    return kept;
  }

  async #kept(name: string): Promise<Kept | undefined> {
    const found = NAME.test(name) ? await this.#deps.files.open(`${folderOf(name)}/${ABOUT}`) : undefined;
    if (found === undefined) return undefined;
    // Only `begin` writes there.
    const kept: unknown = parseObject((await collectBytes(found.body)).toString('utf8'));
    return kept as Kept;
  }

  /** In their order. There is no gap: each began where the last one ended. */
  async #pieces(name: string): Promise<readonly FileInfo[]> {
    const found: FileInfo[] = [];
    for await (const file of this.#deps.files.list(folderOf(name))) if (!file.path.endsWith(ABOUT)) found.push(file);
    return found.sort((one, other) => offsetOf(one) - offsetOf(other));
  }

  #checkSize(size: number): void {
    const most = this.#deps.mostBytes();
    if (size > most) throw new SluiceError('too_large', `The file is larger than ${most} bytes.`);
  }
}

function folderOf(name: string): string {
  return `${PIECES_FOLDER}/${name}`;
}

function pieceAt(name: string, offset: number): string {
  return `${folderOf(name)}/${String(offset).padStart(12, '0')}`;
}

function offsetOf({ path }: FileInfo): number {
  return Number(path.slice(path.lastIndexOf('/') + 1));
}

function total(pieces: readonly FileInfo[]): number {
  return pieces.reduce((sum, { size }) => sum + size, 0);
}

function missing(name: string): SluiceError {
  return new SluiceError(
    'not_found',
    `No file is being sent as '${name.slice(0, 100)}': it is complete, was cancelled, or never began.`,
    {
      param: 'upload_id',
    },
  );
}
