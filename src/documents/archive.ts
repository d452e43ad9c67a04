import { type ArchiveEntry, type Conversion, Refusal, type Rejection } from './conversion.ts';
import { extensionOf } from './file-types.ts';
import type { Zip, ZipEntry } from './zip.ts';

/** Members of an archive, as they are done. */
export interface Progress {
  /** Path within the archive. */
  readonly name: string;
  readonly done: number;
  readonly total: number;
}

type ConvertMember = (member: { readonly name: string; readonly bytes: Uint8Array }) => Promise<Conversion>;

/** Longest path of a member, in characters. */
const LONGEST_PATH = 1_000;

/** A zip of files: each is converted by the rules for files of its name. Folders and hidden files are passed over. */
export async function convertArchive(
  zip: Zip,
  onProgress: (progress: Progress) => void,
  convertMember: ConvertMember,
): Promise<Conversion> {
  const members = zip.entries
    .map((entry) => ({ entry, path: normalise(entry.path) }))
    .filter(({ path }) => !isHidden(path));
  if (members.length === 0) throw new Refusal('has no files in it');
  const entries: ArchiveEntry[] = [];
  const rejected: Rejection[] = [];
  const seen = new Set<string>();
  for (const [index, { entry, path }] of members.entries()) {
    const became = seen.has(path) ? 'is in the archive twice' : await become(zip, entry, path, convertMember);
    if (typeof became === 'string') rejected.push({ name: entry.path, reason: became });
    else entries.push(became);
    seen.add(path);
    onProgress({ name: entry.path, done: index + 1, total: members.length });
  }
  return { kind: 'archive', entries, rejected };
}

/** What a member became, or why it became nothing. */
async function become(
  zip: Zip,
  entry: ZipEntry,
  path: string,
  convertMember: ConvertMember,
): Promise<ArchiveEntry | string> {
  if (!isSafe(path)) return 'has an unsafe name';
  if (extensionOf(path) === 'zip') return 'is an archive inside an archive';
  let bytes: Uint8Array;
  try {
    bytes = zip.read(entry);
  } catch (error) {
    if (error instanceof Refusal) return error.message;
    throw error;
  }
  const conversion = await convertMember({ name: path, bytes });
  if (conversion.kind === 'rejected') return conversion.reason;
  if (conversion.kind !== 'markdown' && conversion.kind !== 'text') return 'is media, which is taken in by itself only';
  return { path, kind: conversion.kind, text: conversion.text };
}

/** Some Windows programs write backslashes, some others a leading dot. */
function normalise(path: string): string {
  return path.replaceAll('\\', '/').replace(/^(\.\/)+/, '');
}

/** Files that systems add (`.DS_Store`, `__MACOSX/…`) and that users hide. */
function isHidden(path: string): boolean {
  return /(^|\/)(\.[^/.]|__MACOSX\/)/.test(path);
}

/** Whether a path stays below the folder that it is put in, on any system. */
function isSafe(path: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a name that holds them was made to deceive
  if (path.length > LONGEST_PATH || /^[a-z]:|[\x00-\x1f\x7f]/i.test(path)) return false;
  // None empty (an absolute path begins with one), `.` or `..`.
  return path.split('/').every((part) => !/^\.*$/.test(part));
}
