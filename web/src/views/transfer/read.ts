import { chatGpt } from './forms/chatgpt.ts';
import { claude } from './forms/claude.ts';
import type { Form } from './forms/form.ts';
import { libreChat } from './forms/librechat.ts';
import { openWebUi } from './forms/open-webui.ts';
import { OWN_FORMAT, readOwn } from './forms/own.ts';
import { plain } from './forms/plain.ts';
import { toWholeChat, type WholeChat } from './imported.ts';
import { isLoose, type Loose, listOf, objectsOf, textIn } from './lenient.ts';

/** In this order: the last one takes what looks the least special. */
const forms: readonly Form[] = [chatGpt, claude, openWebUi, libreChat, plain];

/**
 * Why a chat of a file was not taken: nothing in it, no form that is known, or the form but not readable; or the name of a file in an
 * archive of which nothing was read.
 */
export interface Problem {
  readonly title: string;
  readonly reason: 'empty' | 'unknown' | 'broken' | 'known' | 'unread';
}

/** What a file had. */
export interface ReadExport {
  /** The programs that wrote it. */
  readonly forms: readonly string[];
  readonly chats: readonly WholeChat[];
  readonly problems: readonly Problem[];
  /** Pictures and files that the export only mentions. */
  readonly leftOut: number;
  /** Whether its last line is not whole. */
  readonly isCut: boolean;
}

/** The chats in the text of a file: JSON, or JSON line by line, which may end in the midst of its last line. Throws when it is neither. */
export function readText(text: string, now: number): ReadExport {
  const bare = text.replace(/^\ufeff/, '');
  let value: unknown;
  try {
    value = JSON.parse(bare);
  } catch (error) {
    const lines = bare.split('\n').filter((line) => line.trim() !== '');
    const last = lines.pop() ?? '';
    if (lines.length === 0) throw error;
    const whole = lines.map((line) => JSON.parse(line) as unknown);
    try {
      whole.push(JSON.parse(last));
    } catch {
      return { ...readExport(whole, now), isCut: true };
    }
    value = whole;
  }
  return readExport(value, now);
}

/** The chats in JSON of any known form, or of several; what is no chat, or cannot be read, is among the problems. */
export function readExport(value: unknown, now: number): ReadExport {
  const found = new Set<string>();
  const chats: WholeChat[] = [];
  const problems: Problem[] = [];
  let leftOut = 0;
  for (const { entry, isOwn } of entriesOf(value)) {
    const title = titleOf(entry);
    const form = isOwn ? undefined : forms.find((each) => each.fits(entry));
    if (form === undefined && !isOwn) {
      problems.push({ title, reason: 'unknown' });
      continue;
    }
    try {
      found.add(form?.name ?? 'Sluice');
      const imported = form?.read(entry);
      const chat = imported === undefined ? readOwn(entry, now) : toWholeChat(imported, now);
      if (chat === undefined) problems.push({ title, reason: 'empty' });
      else {
        chats.push(chat);
        leftOut += imported?.leftOut ?? 0;
      }
    } catch {
      problems.push({ title, reason: 'broken' });
    }
  }
  return { forms: [...found], chats, problems, leftOut, isCut: false };
}

interface Entry {
  readonly entry: Loose;
  readonly isOwn: boolean;
}

/** The chats wherever a file has them: a list, a list under a name, or one chat alone. */
function entriesOf(value: unknown): readonly Entry[] {
  if (isLoose(value)) {
    const isOwn = value['format'] === OWN_FORMAT;
    for (const name of ['chats', 'conversations', 'history', 'data']) {
      if (Array.isArray(value[name])) return objectsOf(value[name]).map((entry) => ({ entry, isOwn }));
    }
    return [{ entry: value, isOwn: false }];
  }
  const entries = objectsOf(value);
  // A list of messages alone is one chat.
  if (entries.length > 0 && entries.every(({ role }) => textIn(role) !== undefined)) {
    return [{ entry: { messages: entries }, isOwn: false }];
  }
  const strangers = listOf(value).length - entries.length;
  return [...entries, ...Array.from({ length: strangers }, () => ({}))].map((entry) => ({ entry, isOwn: false }));
}

function titleOf(entry: Loose): string {
  return (textIn(entry['title']) ?? textIn(entry['name']) ?? textIn(entry['id']) ?? '').slice(0, 80);
}
