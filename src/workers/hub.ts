import type { Limits } from '../config/config.ts';
import type { Logger } from '../core/logger.ts';
import type { OwnLedger } from '../observe/ledger.ts';
import type { DatabaseHandle } from '../stores/sql/handle.ts';
import { serveDatabase } from './database.ts';
import { EngineHost } from './engines.ts';
import type { Member } from './fleet.ts';
import { serveLedger } from './ledger.ts';
import { Lender } from './lender.ts';
import { ProcessSums } from './process-metrics.ts';
import type { News } from './words.ts';

/** How long one worker may take to hear news that somebody waits for, in milliseconds. */
const PATIENCE_MS = 5_000;
/** The same for figures that a listing shows beside the rest. */
const COUNT_PATIENCE_MS = 500;

/** What the primary has that workers ask for. */
export interface HubDeps {
  readonly database: DatabaseHandle;
  readonly ledger: OwnLedger;
  readonly limits: () => Limits;
  readonly log: Logger;
  readonly patienceMs?: number;
}

/** Everything that the workers have in common, where they ask for it. */
export class Hub {
  readonly #deps: HubDeps;
  readonly #members = new Set<Member>();
  readonly #lender: Lender;
  readonly #engines: EngineHost;
  readonly #processes = new ProcessSums();
  readonly #leaving = new Map<Member, () => void>();
  /** Who takes uploads into a bucket. */
  readonly #uploads = new Map<string, Set<Member>>();

  constructor(deps: HubDeps) {
    this.#deps = deps;
    this.#lender = new Lender(deps.limits);
    this.#engines = new EngineHost(deps.log);
  }

  /** Answers a worker from now on. */
  join(member: Member): void {
    const { channel } = member;
    this.#members.add(member);
    serveDatabase(channel, this.#deps.database);
    this.#processes.join(channel);
    serveLedger(channel, this.#deps.ledger, this.#processes, () => this.#ready.map((each) => each.channel));
    this.#lender.serve(channel);
    this.#leaving.set(member, this.#engines.serve(channel));
    channel.on('spread', async (news) => {
      await this.tell(news, member);
      return undefined;
    });
    channel.on('answers.all', () => this.#answers());
    channel.on('farewell', (metrics) => {
      this.#processes.note(channel, metrics);
      return undefined;
    });
    channel.on('upload', ({ id, isRunning }) => this.#noteUpload(member, id, isRunning));
    channel.on('uploading', (id) => {
      const takers = this.#uploads.get(id);
      return takers === undefined || takers.has(member) ? undefined : takers.values().next().value?.tag;
    });
  }

  /** A worker has ended: nothing of it stays taken. */
  leave(member: Member): void {
    this.#members.delete(member);
    this.#lender.forget(member.channel);
    this.#processes.leave(member.channel);
    this.#leaving.get(member)?.();
    this.#leaving.delete(member);
    for (const id of [...this.#uploads.keys()]) this.#noteUpload(member, id, false);
  }

  /** Those that can answer. One that starts hears afterwards what it has missed. */
  get #ready(): readonly Member[] {
    return [...this.#members].filter(({ state }) => state !== 'starting' && state !== 'failed');
  }

  /** Tells all workers, and waits until they know. Returns what they answered. */
  async tell(news: News, except?: Member): Promise<readonly (readonly string[])[]> {
    this.#tellStarting(news);
    const members = this.#ready.filter((member) => member !== except);
    const answers = await Promise.all(members.map((member) => this.inform(member, news)));
    return answers.filter((answer) => answer !== undefined);
  }

  /** A worker that starts may listen already, and have listed the files, before the primary hears of that. Nobody waits for it. */
  #tellStarting(news: News): void {
    if (news.type !== 'media' && news.type !== 'bucket deleted') return;
    for (const member of this.#members) if (member.state === 'starting') void this.inform(member, news);
  }

  /** Tells one worker, and waits until it knows, though not for ever. */
  inform({ channel, pid }: Member, news: News): Promise<readonly string[] | undefined> {
    const { log, patienceMs = PATIENCE_MS } = this.#deps;
    return channel.askBriefly('news', news, patienceMs, ({ message }) => {
      log.warn({ worker: pid, news: news.type, error: message }, 'a worker could not take over what has changed');
    });
  }

  /** The limits have changed. */
  async recall(): Promise<void> {
    await this.#lender.recall();
  }

  close(): Promise<void> {
    return this.#engines.close();
  }

  /** A worker that hangs is left out: what it has counted is no reason to wait. */
  async #answers(): Promise<ReadonlyMap<string, number>> {
    const asked = this.#ready.map(({ channel }) => channel.askBriefly('answers', undefined, COUNT_PATIENCE_MS));
    const sums = new Map<string, number>();
    for (const counts of await Promise.all(asked))
      for (const [id, count] of counts ?? []) sums.set(id, (sums.get(id) ?? 0) + count);
    return sums;
  }

  #noteUpload(member: Member, id: string, isRunning: boolean): void {
    const takers = this.#uploads.get(id) ?? new Set<Member>();
    if (isRunning) takers.add(member);
    else takers.delete(member);
    if (takers.size > 0) this.#uploads.set(id, takers);
    else this.#uploads.delete(id);
  }
}
