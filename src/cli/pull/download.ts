import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type FileHandle, open, readFile, rename, rm, stat, statfs, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Dispatcher } from 'undici';
import { syncFolder } from '../../core/folder.ts';
import { textOf } from '../../core/objects.ts';
import { codeOf } from '../../outbound/error-code.ts';
import { Failure } from '../failure.ts';
import { HUGGING_FACE, type Source } from './source.ts';

/** Where a file goes, how it is asked for, and who is told how it gets on. */
export interface Download {
  readonly folder: string;
  readonly request: (
    url: URL,
    options: { readonly headers: Record<string, string> },
  ) => Promise<Dispatcher.ResponseData>;
  /** Shown to Hugging Face alone, for models that want a login. */
  readonly token?: string | undefined;
  /** Bytes that are there, and in all; undefined: nobody says. */
  readonly progress: (bytes: number, total: number | undefined) => void;
  /** Why it begins again. */
  readonly retrying: (reason: string) => void;
  /** Milliseconds before the first retry; each further one waits twice as long. */
  readonly pauseMs?: number;
}

/** What is known of a file that is not whole yet; stands beside it. */
interface Begun {
  readonly url: string;
  readonly etag: string;
  readonly total: number | undefined;
  /** Of the whole, hex. */
  readonly sha256: string | undefined;
}

const MOST_REDIRECTS = 5;
/** In a row, without a byte more. */
const MOST_TRIES = 5;
const PAUSE_MS = 1_000;
/** What every file of this format begins with (https://github.com/ggml-org/ggml/blob/master/docs/gguf.md). */
const MAGIC = 'GGUF';

/** It may work a little later. */
class Interrupted extends Error {}

/**
 * Brings a file into a folder: under another name until it is whole and checked. What was there of it, from an interrupted run, is gone
 * on with where its server allows that. Returns its size, or undefined where it was there already. Throws `Failure`.
 */
export async function download(source: Source, how: Download): Promise<number | undefined> {
  const target = path.join(how.folder, source.file);
  if ((await stat(target).catch(() => undefined)) !== undefined) return undefined;
  const part = path.join(how.folder, `.${source.file}.part`);
  for (let tries = 1; ; ) {
    const before = await sizeOf(part);
    try {
      const begun = await fetchRest(source, part, how);
      await check(part, begun);
      await rename(part, target);
      await syncFolder(how.folder);
      await rm(aboutOf(part), { force: true });
      return await sizeOf(target);
    } catch (error) {
      if (!(error instanceof Interrupted)) throw error;
      tries = (await sizeOf(part)) > before ? 1 : tries + 1;
      if (tries > MOST_TRIES) throw new Failure(`${error.message} The same command goes on where this one ends.`);
      how.retrying(error.message);
      await sleep((how.pauseMs ?? PAUSE_MS) * 2 ** tries);
    }
  }
}

const aboutOf = (part: string): string => `${part}.json`;

async function sizeOf(file: string): Promise<number> {
  return (await stat(file).catch(() => undefined))?.size ?? 0;
}

/** Writes what is missing behind what is there. */
async function fetchRest(source: Source, part: string, how: Download): Promise<Begun> {
  const known = await aboutPart(source, part);
  const there = known === undefined ? 0 : await sizeOf(part);
  const range = there > 0 && known !== undefined ? { range: `bytes=${there}-`, 'if-range': known.etag } : {};
  const { response, sha256 } = await follow(source.url, range, how);
  const { statusCode, headers, body } = response;
  body.on('error', () => {});
  const isRest = statusCode === 206 && known !== undefined;
  // All of it is there, or more than there is.
  if (statusCode === 416 && known !== undefined) {
    body.destroy();
    if (known.total === there) return known;
    await rm(part, { force: true });
    throw new Interrupted('The file has changed.');
  }
  if (!isRest && statusCode !== 200) {
    body.destroy();
    throw refusal(statusCode, source.url);
  }
  const length = Number(headers['content-length'] ?? Number.NaN);
  const rest = Number.isSafeInteger(length) ? length : undefined;
  const begun: Begun = isRest ? known : { url: source.url.href, etag: strongTag(headers['etag']), total: rest, sha256 };
  await makeRoom(how.folder, rest ?? 0);
  if (!isRest) await writeFile(aboutOf(part), JSON.stringify(begun));
  const file = await open(part, isRest ? 'a' : 'w', 0o600);
  try {
    await write(body, file, isRest ? there : 0, begun, source, how);
    await file.sync();
  } finally {
    await file.close();
  }
  return begun;
}

async function write(
  body: AsyncIterable<Buffer>,
  file: FileHandle,
  there: number,
  { total }: Begun,
  { url }: Source,
  { progress }: Download,
): Promise<void> {
  let bytes = there;
  let begin = there === 0 ? '' : MAGIC;
  progress(bytes, total);
  try {
    for await (const piece of body) {
      if (begin.length < MAGIC.length) {
        begin += piece.toString('latin1', 0, MAGIC.length - begin.length);
        if (!MAGIC.startsWith(begin)) throw noModel(url);
      }
      await file.writeFile(piece);
      bytes += piece.length;
      progress(bytes, total);
    }
  } catch (error) {
    if (error instanceof Failure || isOfDisk(error)) throw error;
    throw new Interrupted(`The connection broke off (${reasonOf(error)}).`);
  }
  if (begin !== MAGIC) throw noModel(url);
  if (total !== undefined && bytes < total) throw new Interrupted('The connection broke off.');
}

/** Asks, and asks where it is sent to: files are mostly on other hosts, which get no token. */
async function follow(
  from: URL,
  range: Record<string, string>,
  { request, token }: Download,
): Promise<{ response: Dispatcher.ResponseData; sha256: string | undefined }> {
  let url = from;
  let sha256: string | undefined;
  for (let count = 0; count <= MOST_REDIRECTS; count += 1) {
    const login = token !== undefined && url.origin === HUGGING_FACE ? { authorization: `Bearer ${token}` } : {};
    const headers = { 'user-agent': 'sluice', 'accept-encoding': 'identity', ...range, ...login };
    const response = await request(url, { headers }).catch((error: unknown) => {
      throw new Interrupted(`${url.host} cannot be reached (${reasonOf(error)}).`);
    });
    // Hugging Face says so before it sends on to where the bytes are.
    const [linked] = [response.headers['x-linked-etag']].flat();
    sha256 ??= /^"?([0-9a-f]{64})"?$/i.exec(linked ?? '')?.[1]?.toLowerCase();
    const [location] = [response.headers['location']].flat();
    if (response.statusCode < 300 || response.statusCode > 399 || location === undefined) return { response, sha256 };
    response.body.on('error', () => {}).destroy();
    const next = URL.parse(location, url);
    if (next === null || (next.protocol !== url.protocol && next.protocol !== 'https:'))
      throw new Failure(`${url.host} sends on to an address that is not followed.`);
    url = next;
  }
  throw new Failure(`${from.host} sends on in a circle.`);
}

/** Only what does not change with its bytes can be gone on with (RFC 9110 §13.1.5). */
function strongTag(etag: string | string[] | undefined): string {
  const [tag = ''] = [etag].flat();
  return tag.startsWith('W/') ? '' : tag;
}

async function aboutPart({ url }: Source, part: string): Promise<Begun | undefined> {
  try {
    const begun = JSON.parse(await readFile(aboutOf(part), 'utf8')) as Begun;
    return begun.url === url.href && textOf(begun.etag) !== '' ? begun : undefined;
  } catch {
    return undefined;
  }
}

async function check(part: string, { total, sha256 }: Begun): Promise<void> {
  const size = await sizeOf(part);
  const isWhole = total === undefined || size === total;
  if (isWhole && (sha256 === undefined || (await hashOf(part)) === sha256)) return;
  await rm(part, { force: true });
  throw new Failure(
    isWhole
      ? 'What came is not what its server promised (SHA-256). It was removed; try again.'
      : `What came has ${size} bytes instead of ${total}. It was removed; try again.`,
  );
}

async function hashOf(file: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const piece of createReadStream(file)) hash.update(piece);
  return hash.digest('hex');
}

async function makeRoom(folder: string, bytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  if (bavail * bsize < bytes)
    throw new Failure(`There is no room in ${folder}: ${bytes} bytes are needed, ${bavail * bsize} are free.`);
}

function refusal(status: number, { href, origin }: URL): Failure | Interrupted {
  if (status === 429 || status >= 500) return new Interrupted(`The server answers ${status}.`);
  if (status === 401 || status === 403) {
    const login = origin === HUGGING_FACE ? ' Accept its terms on its page, and set HF_TOKEN.' : '';
    return new Failure(`${href} is not for everybody (${status}).${login}`);
  }
  return new Failure(`There is no such file at ${href} (${status}).`);
}

function noModel({ href }: URL): Failure {
  return new Failure(`What is at ${href} is no model in the format GGUF.`);
}

function isOfDisk(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error && error.syscall === 'write';
}

function reasonOf(error: unknown): string {
  return codeOf(error) || (error instanceof Error ? error.message : String(error));
}
