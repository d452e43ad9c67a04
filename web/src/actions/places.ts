import { app } from '../state/app.ts';
import { parseRoute } from '../state/route.ts';
import { roomBeside, type StreamsState } from '../state/streams.ts';
import { countsElsewhere } from '../storage/running.ts';

/*
 * A browser opens six connections to a server (HTTP/1.1), for all tabs together, and each answer that is followed takes one of
 * them. So only some are followed at once. The server keeps the others, which are let go and followed again in turns: those
 * that are shown first.
 */

/** So many answers are followed at once by all tabs. The other connections are for everything else that the page asks for. */
const FOLLOWED = 4;
/** A question cannot be let go before the server has told the name of its answer, so these may take one more. */
const ASKED = 5;
/** How long an answer is followed at least, in milliseconds, by how much the one needs the place that waits for it (`needOf`). */
const LEAST_MS = [3_000, 500, 0] as const;
/** How often it is looked whether somebody's time is up, in milliseconds. */
const LOOK_MS = 250;

/** Somebody who has a place, or waits for one. */
interface Taker {
  readonly chat: string;
  readonly isQuestion: boolean;
  /** Gets the place. */
  readonly enter: () => void;
  /** Has to give the place to another one. */
  readonly letGo: AbortController;
  /** Since when the answer can be let go, by a clock that nobody sets. */
  since?: number;
}

/** In the order in which they came. */
const waiting = new Set<Taker>();
const placed = new Set<Taker>();

/**
 * Does `work`, which takes up one connection, as soon as there is a place for it. Once it has said that the answer can be let
 * go, its signal may be aborted for the sake of another one: then this resolves with false, and the work shall be done again.
 */
export async function inPlace(
  { chat, isQuestion }: Pick<Taker, 'chat' | 'isQuestion'>,
  leaving: AbortSignal,
  work: (signal: AbortSignal, canBeLetGo: () => void) => Promise<void>,
): Promise<boolean> {
  const letGo = new AbortController();
  const entered = Promise.withResolvers<void>();
  const taker: Taker = { chat, isQuestion, letGo, enter: entered.resolve };
  leaving.addEventListener('abort', () => entered.reject(leaving.reason));
  leaving.throwIfAborted();
  waiting.add(taker);
  watch();
  arrange();
  try {
    await entered.promise;
    await work(AbortSignal.any([leaving, letGo.signal]), () => {
      taker.since = performance.now();
      arrange();
    });
    return true;
  } catch (thrown) {
    if (leaving.aborted || !letGo.signal.aborted) throw thrown;
    return false;
  } finally {
    waiting.delete(taker);
    placed.delete(taker);
    arrange();
  }
}

function roomFor(most: number): number {
  return isOneConnection() ? Number.POSITIVE_INFINITY : roomBeside(countsElsewhere(), most);
}

/** Newer protocols have one connection for all requests. */
function isOneConnection(): boolean {
  const entries = ['navigation', 'resource'].flatMap((type) => performance.getEntriesByType(type));
  return (entries as PerformanceResourceTiming[]).some(({ nextHopProtocol }) => /^h[23]/.test(nextHopProtocol));
}

let timer: ReturnType<typeof setTimeout> | undefined;

/** Gives places to those who need them most, and takes them from those who need them least. */
function arrange(): void {
  for (const taker of [...waiting].sort((a, b) => needOf(b) - needOf(a))) {
    if (placed.size >= roomFor(taker.isQuestion ? ASKED : FOLLOWED) && !letOneGo(needOf(taker))) continue;
    waiting.delete(taker);
    placed.add(taker);
    taker.enter();
  }
  const isOver = (): boolean => placed.size > roomFor(FOLLOWED);
  while (isOver() && letOneGo(1));
  clearTimeout(timer);
  if (waiting.size > 0 || isOver()) timer = setTimeout(arrange, LOOK_MS);
}

function needOf({ chat, isQuestion }: Taker): 0 | 1 | 2 {
  return isQuestion ? 2 : isShown(chat) ? 1 : 0;
}

/** Ends the turn of whoever has had it for longest; those that are shown stay while there is another one. */
function letOneGo(need: 0 | 1 | 2): boolean {
  const able = [...placed].filter(({ since }) => since !== undefined);
  const hidden = able.filter(({ chat }) => !isShown(chat));
  const now = performance.now();
  const [longest] = (hidden.length > 0 ? hidden : able)
    .map((taker) => ({ taker, had: now - (taker.since ?? now) }))
    .sort((a, b) => b.had - a.had);
  if (longest === undefined) return false;
  const { taker, had } = longest;
  if (had < LEAST_MS[need === 1 && isShown(taker.chat) ? 0 : need]) return false;
  placed.delete(taker);
  taker.letGo.abort();
  return true;
}

/** Whether a chat is on the screen, alone or as a comparison. */
export function isShown(chat: string): boolean {
  return parseRoute(location.hash).path[0] === chat;
}

let seen: StreamsState | undefined;

/** What is shown changes, and how much other tabs follow. */
function watch(): void {
  if (seen !== undefined) return;
  seen = app.get().streams;
  addEventListener('hashchange', arrange);
  app.subscribe(() => {
    if (seen === app.get().streams) return;
    seen = app.get().streams;
    arrange();
  });
}
