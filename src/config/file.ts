// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders of the file, not of JavaScript

import { constants, existsSync } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Document, LineCounter, Node } from 'yaml';
import { oneLine } from '../core/one-line.ts';
import { ConfigError, given, type Path } from './problems.ts';

/** The name that is looked for when no other is given. */
export const DEFAULT_FILE = 'sluice.yaml';

const LARGEST = 1_024 * 1_024;
/** How long whoever writes into a pipe may take, in milliseconds: a program that asks for a password first, say. */
const PATIENCE_MS = 30_000;
const LOOK_MS = 20;
/** How often YAML aliases may be used: few small anchors can stand for a huge tree. */
const MOST_ALIASES = 100;

/** A configuration file as it was read. */
export interface ConfigFile {
  /** Absolute. */
  readonly path: string;
  /** As it is named in messages: relative to the working directory where that is shorter. */
  readonly shown: string;
  /** The content; an empty map when there is none. */
  readonly raw: unknown;
  /** Whether not even a comment is in it, as while somebody is about to write it. */
  readonly isEmpty: boolean;
  /** The line on which a value, or else the nearest thing above it, stands. */
  lineOf(path: Path): number | undefined;
}

/** The default file of a directory, when there is one. */
export function findDefaultFile(directory: string): string | undefined {
  const file = path.join(directory, DEFAULT_FILE);
  return existsSync(file) ? file : undefined;
}

/** A path as it is named in messages. */
export function shownPath(file: string, directory: string): string {
  const relative = path.relative(directory, file);
  return relative.startsWith('..') || path.isAbsolute(relative) ? file : relative;
}

/** Reads and parses a file. Throws `ConfigError`; `source` is what named the file: a flag or a variable. */
export async function readConfigFile(
  file: string,
  shown: string,
  source?: string,
  patienceMs = PATIENCE_MS,
): Promise<ConfigFile> {
  const text = await read(file, shown, source, patienceMs);
  const { LineCounter, parseDocument, visit } = await import('yaml');
  const lines = new LineCounter();
  // The core schema without further tags: only maps, lists, texts, numbers, true, false and null.
  const options = {
    lineCounter: lines,
    prettyErrors: false,
    schema: 'core',
    resolveKnownTags: false,
    stringKeys: true,
  };
  const document = parseDocument(text, { ...options, uniqueKeys: true } as const);
  // An unknown tag is only a warning to the parser.
  const failure = [...document.errors, ...document.warnings][0];
  const invalid = (offset: number, reason: string): ConfigError => {
    const { line, col } = lines.linePos(offset);
    return new ConfigError([`${shown}:${line}:${col}: not valid YAML: ${reason}`]);
  };
  if (failure !== undefined) {
    const [offset] = failure.pos;
    if (failure.code !== 'DUPLICATE_KEY') throw invalid(offset, reasonOfParser(failure) + hintAt(text, offset));
    visit(document, {
      Scalar(_, { value, range }) {
        if (range?.[0] === offset) throw invalid(offset, `the key ${given(value, [])} is there twice`);
      },
    });
    throw invalid(offset, 'a key is there twice');
  }
  const anchors = new Set<string | undefined>();
  visit(document, {
    Value(_, { anchor }) {
      anchors.add(anchor);
    },
    Alias(_, alias) {
      if (anchors.has(alias.source)) return;
      throw invalid(alias.range?.[0] ?? 0, 'an alias without an anchor before it; quote a text that begins with *');
    },
  });
  return {
    path: file,
    shown,
    raw: toTree(document, shown),
    isEmpty: text === '',
    lineOf: (place) => lineOf(document, lines, place),
  };
}

async function read(file: string, shown: string, source: string | undefined, patienceMs: number): Promise<string> {
  const prefix = source === undefined ? '' : `${source}: `;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(await bytesOf(file, patienceMs));
  } catch (error) {
    if (error instanceof Unfit) throw new ConfigError([`${prefix}${shown} ${error.message}`]);
    const mayPass = PASSING.has((error as NodeJS.ErrnoException).code);
    throw new ConfigError([`${prefix}cannot read ${shown}: ${reasonOf(error)}`], { mayPass });
  }
}

/** What is read is no configuration; the message goes behind its name. */
class Unfit extends Error {}

/** All of a file, or of a pipe that somebody fills. A device may have no end, a pipe nobody who writes. */
async function bytesOf(file: string, patienceMs: number): Promise<Uint8Array> {
  const until = performance.now() + patienceMs;
  const found = await stat(file);
  // Without it, the opening of a pipe waits for whoever writes, and the process for the opening.
  const handle = await open(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const bytes = Buffer.allocUnsafe(LARGEST + 1);
    let size = 0;
    for (;;) {
      const count = await handle.read(bytes, size, bytes.length - size, null).then((read) => read.bytesRead, notYet);
      size += count ?? 0;
      if (size > LARGEST) {
        const hint = found.isFile() ? '' : ', and no file: name the one that holds the configuration';
        throw new Unfit(`is larger than ${LARGEST} bytes${hint}`);
      }
      // A pipe that nobody has opened yet looks like one whose writer has left.
      if (count === 0 && (size > 0 || !found.isFIFO())) return bytes.subarray(0, size);
      if ((count ?? 0) > 0) continue;
      if (performance.now() >= until) {
        throw new Unfit(
          `is no file, and nobody has written all of the configuration into it within ${patienceMs} ms: start what writes it, or name a file`,
        );
      }
      await sleep(LOOK_MS);
    }
  } finally {
    await handle.close();
  }
}

/** Nothing is there to be read, but more may come. */
function notYet(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'EAGAIN') throw error;
}

/** Failures that end by themselves: too many open files, here or on the machine; a disk that is busy. */
const PASSING: ReadonlySet<string | undefined> = new Set(['EMFILE', 'ENFILE', 'EAGAIN', 'EBUSY', 'EIO']);

function reasonOf(error: unknown): string {
  const code = (error as NodeJS.ErrnoException).code ?? '';
  const reasons: Record<string, string> = {
    ENOENT: 'there is no such file',
    EACCES: 'no permission to read it',
    EISDIR: 'it is a folder',
    ENOTDIR: 'a part of its path is not a folder',
    ERR_ENCODING_INVALID_ENCODED_DATA: 'it is not UTF-8 text',
  };
  return reasons[code] ?? oneLine(String((error as Error).message));
}

/** What the parser says, without what it quotes: a key that begins with a sign of YAML's own is an alias or a tag to it. */
function reasonOfParser({ message }: Error): string {
  return oneLine(message)
    .replace(/(?<=[\w)]): .*/, '')
    .replaceAll(/[!%]\S+/g, '…');
}

/** Between braces or brackets a `{` begins a map, also behind a dollar sign. */
function hintAt(text: string, offset: number): string {
  return text.slice(offset - 1, offset + 1) === '${' ? '; quote a text with ${…} here' : '';
}

function toTree(document: Document, shown: string): unknown {
  let tree: unknown;
  try {
    tree = document.toJS({ maxAliasCount: MOST_ALIASES });
  } catch (error) {
    throw new ConfigError([`${shown}: not valid YAML: ${reasonOfParser(error as Error)}`]);
  }
  if (tree === null || tree === undefined) return {};
  if (typeof tree !== 'object' || Array.isArray(tree)) return tree;
  // A key whose content is commented out counts as left out.
  return Object.fromEntries(Object.entries(tree).filter(([, value]) => value !== null));
}

function lineOf(document: Document, lines: LineCounter, path: Path): number | undefined {
  let offset: number | undefined;
  let node: unknown = document.contents;
  for (const segment of path) {
    const member = memberOf(node, segment);
    if (member === undefined) break;
    offset = member.offset ?? offset;
    node = member.value;
  }
  return offset === undefined ? undefined : lines.linePos(offset).line;
}

function memberOf(node: unknown, segment: PropertyKey): { value: unknown; offset: number | undefined } | undefined {
  if (typeof node !== 'object' || node === null || !('items' in node) || !Array.isArray(node.items)) return undefined;
  for (const [index, item] of node.items.entries()) {
    const pair = item as { key?: Partial<Node> & { value?: unknown }; value?: unknown };
    if (pair.key !== undefined && String(pair.key.value) === String(segment)) {
      return { value: pair.value, offset: pair.key.range?.[0] };
    }
    if (pair.key === undefined && index === segment) return { value: item, offset: (item as Partial<Node>).range?.[0] };
  }
  return undefined;
}
