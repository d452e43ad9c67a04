import { isWhole, makeContent } from './content.ts';
import type { RunningGateway } from './running-gateway.ts';
import type { Actor, Content, Finding } from './subject.ts';

/** Records are of one size class: at most so many characters. */
const LONGEST_RECORD = 10_000;

interface Share {
  readonly id: string;
  /** The owner's, from the first answer. */
  cookie: string | undefined;
  promised: number;
  tried: number;
}

/**
 * A shared chat that its owner writes again and again. Whoever dies before the first answer never learns who owns it:
 * such a chat stays as it is, and the next one is shared in its place.
 */
export function sharedChatActor(id: string): Actor<RunningGateway> {
  const begin = (number: number): Share => ({ id: `${id}s${number}`, cookie: undefined, promised: 0, tried: 0 });
  const shares: Share[] = [];
  let present = begin(0);
  let acknowledged = 0;

  async function verify(running: RunningGateway, share: Share): Promise<Finding | undefined> {
    const found = await running.getChat(share.id, share.cookie);
    const revision = found?.revision ?? 0;
    if (found !== undefined && !isWhole(found)) return { kind: 'torn', what: `chat ${share.id}` };
    const { promised, tried } = share;
    share.promised = revision;
    share.tried = revision;
    return revision === promised || revision === tried
      ? undefined
      : { kind: 'lost', what: `chat ${share.id}: promised ${promised}, tried ${tried}, found ${revision}` };
  }

  return {
    kind: 'chats',
    get acknowledged() {
      return acknowledged;
    },
    async write(running) {
      present.tried = present.promised + 1;
      const cookie = await running.putChat(present.id, makeContent(present.tried), present.cookie);
      present.cookie ??= cookie;
      present.promised = present.tried;
      acknowledged += 1;
    },
    async verify(running) {
      const findings = await Promise.all([...shares, present].map((share) => verify(running, share)));
      if (present.cookie === undefined && present.promised > 0) {
        shares.push(present);
        present = begin(shares.length);
      }
      return findings.filter((finding) => finding !== undefined);
    },
  };
}

/** Records that are only ever added, with numbers from 1 on. */
export interface Numbered {
  readonly name: 'usage' | 'log' | 'conversations';
  add(running: RunningGateway, record: Content): Promise<void>;
  /** In the order in which they came. `summed`: how many the sums know. `isFull`: the oldest ones may be gone. */
  read(running: RunningGateway): Promise<{
    readonly records: readonly Content[];
    readonly summed?: number;
    readonly isFull?: boolean;
  }>;
}

/** Turns of one conversation: what was asked and what was answered, both the same text, which are there together or not at all. */
export function conversationActor(id: string): Actor<RunningGateway> {
  /** From the first answer; whoever dies before it never learns of the one that was begun, and begins another. */
  let conversation: string | undefined;
  return numberedActor(id, {
    name: 'conversations',
    async add(running, record) {
      conversation ??= await running.beginConversation();
      const text = JSON.stringify(record);
      await running.addItems(conversation, [text, text]);
    },
    async read(running) {
      const texts = conversation === undefined ? [] : await running.items(conversation);
      const turns = Array.from({ length: Math.ceil(texts.length / 2) }, (_, n) => texts.slice(2 * n, 2 * n + 2));
      return { records: turns.map(([asked = '', answered]) => recordOf(asked, answered)) };
    },
  });
}

function recordOf(asked: string, answered: string | undefined): Content {
  const record = JSON.parse(asked) as Content;
  return asked === answered ? record : { ...record, digest: 'of half a turn' };
}

/** Every number that was promised is there once, whole and in its place; at most one that was only tried. */
export function numberedActor(user: string, { name, add, read }: Numbered): Actor<RunningGateway> {
  let promised = 0;
  let tried = 0;
  let acknowledged = 0;
  return {
    kind: name,
    get acknowledged() {
      return acknowledged;
    },
    async write(running) {
      tried = promised + 1;
      await add(running, makeContent(tried, LONGEST_RECORD));
      promised = tried;
      acknowledged += 1;
    },
    async verify(running) {
      const { records, summed = records.length, isFull = false } = await read(running);
      const what = `${name} of ${user}`;
      const findings: Finding[] = [];
      if (!records.every(isWhole)) findings.push({ kind: 'torn', what });
      if (summed !== records.length) {
        findings.push({ kind: 'torn', what: `${what}: ${records.length} records, sum ${summed}` });
      }
      const numbers = records.map(({ revision }) => revision);
      const last = numbers.at(-1) ?? (isFull ? promised : 0);
      const first = isFull ? (numbers[0] ?? 1) : 1;
      const expected = Array.from({ length: numbers.length === 0 ? 0 : last - first + 1 }, (_, n) => first + n);
      if ((last !== promised && last !== tried) || numbers.join() !== expected.join()) {
        findings.push({ kind: 'lost', what: `${what}: promised ${promised}, found ${numbers.length}, last ${last}` });
      }
      promised = last;
      tried = last;
      return findings;
    },
  };
}
