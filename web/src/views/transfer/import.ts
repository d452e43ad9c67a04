import { app } from '../../state/app.ts';
import { keepWhole } from '../../storage/keep.ts';
import type { WholeChat } from './imported.ts';
import { type Problem, type ReadExport, readText } from './read.ts';
import { type FoundMember, unzip } from './zip.ts';

/** What became of one file. */
export interface FileReport {
  readonly name: string;
  readonly forms: readonly string[];
  /** Ids of the chats that are new now. */
  readonly imported: readonly string[];
  readonly problems: readonly Problem[];
  readonly leftOut: number;
  /** Whether its last line is not whole, so that a chat of it may be missing. */
  readonly isCut: boolean;
  /** Why nothing of it was read: it is no export at all, nothing is in it, or there is no room. */
  readonly failure?: 'notRead' | 'noChats' | 'refused';
}

/** Chats written in one transaction. */
const BATCH = 100;
/** In the archives of ChatGPT and Claude the chats are in here; the rest is about the person. */
const CHATS_IN_ZIP = /(^|\/)(conversations?[^/]*|chats?[^/]*)\.json$/i;

/** Adds the chats of a file to those that are here. Chats that are here already stay as they are. */
export async function importFile(file: File): Promise<FileReport> {
  const none = { name: file.name, forms: [], imported: [], problems: [], leftOut: 0, isCut: false };
  let read: ReadExport;
  try {
    read = await readFile(file);
  } catch {
    return { ...none, failure: 'notRead' };
  }
  const { forms, chats, leftOut, isCut } = read;
  const known = new Set(Object.keys(app.get().chats.byId));
  const fresh: WholeChat[] = [];
  const problems = [...read.problems];
  for (const whole of chats) {
    if (known.has(whole.chat.id)) problems.push({ title: whole.chat.title, reason: 'known' });
    else fresh.push(whole);
    known.add(whole.chat.id);
  }
  const imported: string[] = [];
  try {
    for (let at = 0; at < fresh.length; at += BATCH) {
      const batch = fresh.slice(at, at + BATCH);
      const chats = batch.map(({ chat }) => chat);
      await keepWhole(
        chats,
        batch.flatMap(({ messages }) => messages),
      );
      imported.push(...chats.map(({ id }) => id));
    }
  } catch {
    return { ...none, forms, imported, problems, leftOut, isCut, failure: 'refused' };
  }
  const isEmpty = imported.length === 0 && problems.every(({ reason }) => reason === 'unknown');
  const report = { name: file.name, forms, imported, problems, leftOut, isCut };
  return isEmpty ? { ...report, failure: 'noChats' } : report;
}

async function readFile(file: File): Promise<ReadExport> {
  const now = Date.now();
  const head = new Uint8Array(await file.slice(0, 4).arrayBuffer());
  const isZip = head[0] === 0x50 && head[1] === 0x4b;
  if (!isZip) return readText(await file.text(), now);
  let members = await unzip(file, (name) => CHATS_IN_ZIP.test(name));
  if (members.length === 0) members = await unzip(file, (name) => /\.jsonl?$/i.test(name));
  const all = members.map((member) => readMember(member, now));
  return {
    forms: [...new Set(all.flatMap(({ forms }) => forms))],
    chats: all.flatMap(({ chats }) => chats),
    problems: all.flatMap(({ problems }) => problems),
    leftOut: all.reduce((sum, { leftOut }) => sum + leftOut, 0),
    isCut: all.some(({ isCut }) => isCut),
  };
}

/** One file of an archive that cannot be read keeps no other from being read. */
function readMember({ name, text }: FoundMember, now: number): ReadExport {
  try {
    if (text !== undefined) return readText(text, now);
  } catch {
    // It is neither JSON nor lines of it.
  }
  return { forms: [], chats: [], problems: [{ title: name, reason: 'unread' }], leftOut: 0, isCut: false };
}
