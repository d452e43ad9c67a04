import type { MarkdownIt } from 'markdown-it';
import { createFence, type Fence } from './fence.ts';
import { hold } from './hold.ts';
import { type Tools, withTools } from './hosts.ts';
import { limits } from './limits.ts';
import { withoutPictures } from './pictures.ts';
import { withoutPiles } from './piles.ts';
import { createPlacer } from './placer.ts';
import { type Container, cutBeforeLast } from './reader.ts';
import { createReferences } from './references.ts';
import { sanitised } from './sanitise.ts';

/** A text in the page. */
export interface MarkdownDocument {
  /** Takes the text as it is now. What it begins with should be what was there; if it is not, everything is read again. */
  take(text: string, done: boolean): void;
  /** Works until `deadline` (of `performance.now`). True when the page shows the whole text. */
  work(deadline: number): boolean;
}

/** A text as the grammar reads it: one end of a line, and no character of nothing (CommonMark 2.1 and 2.3). */
function normalised(text: string): string {
  return /[\r\0]/.test(text) ? text.replace(/\r\n?/g, '\n').replaceAll('\0', '\ufffd') : text;
}

/**
 * Renders a growing text. What is finished (see `reader.ts`) is read once and never touched again; only the last block is
 * read anew as it grows. The page at the end is the same, however the text came.
 */
export function createDocument(root: HTMLElement, grammar: MarkdownIt, tools: Tools): MarkdownDocument {
  const placer = createPlacer(root);
  const references = createReferences();
  let text = '';
  let done = false;
  /** How much of the text is finished, and up to where a search for more was in vain. */
  let offset = 0;
  let searched = 0;
  /** How much is looked at in one go: little at first, while the browser has not compiled all this yet. */
  let usual: number = limits.firstCharacters;
  /** The same in a search, which is kept from one slice of work to the next: else that would begin it again. */
  let size: number = usual;
  /** The head of a table that goes on, repeated before its further rows. */
  let head = '';
  let fence: Fence | undefined;
  /** What is left begins within a quote. */
  let inQuote = false;
  /** All blocks are there; only links that were defined behind them may have to be made. */
  let ended = false;
  /** The text that is wholly shown, for good. */
  let shown: string | undefined;

  function reset(): void {
    placer.reset();
    references.reset();
    offset = 0;
    searched = 0;
    size = usual;
    head = '';
    fence = undefined;
    inQuote = false;
    ended = false;
    shown = undefined;
  }

  function nodesOf(
    source: string,
    streaming: boolean,
    begunInQuote = inQuote,
  ): { nodes: Node[]; missing: ReadonlySet<string> } {
    const { env: known, missing } = references.surroundings(streaming);
    const env = { ...known, inQuote: begunInQuote };
    return {
      nodes: [...sanitised(grammar.render(withoutPictures(withoutPiles(source), env), env)).childNodes],
      missing,
    };
  }

  /** Renders what is finished for good. */
  function finish(source: string, open?: Container): void {
    const begunInQuote = inQuote;
    const { nodes, missing } = nodesOf(source, false);
    inQuote = open === 'quote';
    const again = placer.commit(nodes, open);
    references.remember(missing, () => {
      const { nodes: newer, missing: still } = nodesOf(source, false, begunInQuote);
      again(newer);
      return still;
    });
  }

  /** Finishes what it can of the text up to `end`, which ends a line. False when that is nothing. */
  function advance(end: number): boolean {
    const source = head + text.slice(offset, end);
    const cut = cutBeforeLast(grammar, source, head === '' ? 0 : 2);
    const length = cut.at - head.length;
    if (length > 0) {
      finish(source.slice(0, cut.at), cut.open);
      head = cut.head ?? '';
      offset += length;
    }
    if (cut.fence && length >= 0) fence = createFence(text, offset, grammar.utils.unescapeAll);
    return length > 0 || fence !== undefined;
  }

  /** Finishes all that is left. */
  function end(): void {
    finish(head + text.slice(offset));
    placer.tail([]);
    offset = text.length;
    head = '';
    ended = true;
  }

  function work(deadline: number): boolean {
    for (;;) {
      if (!references.settle(deadline)) return false;
      if (ended) return true;
      if (fence !== undefined) {
        const read = fence.read(text, done);
        placer.tail([fence.host(read)]);
        if (!read.closed) return true;
        placer.pass();
        offset = searched = read.end;
        fence = undefined;
      } else {
        const windowed = windowEnd(text, offset, size);
        const atEnd = windowed === text.length;
        if (atEnd && done) {
          end();
          continue;
        }
        const whole = atEnd ? text.lastIndexOf('\n') + 1 : windowed;
        const more = whole > Math.max(offset, searched) && advance(whole);
        searched = Math.max(searched, whole);
        if (!more) {
          if (atEnd) {
            placer.tail(nodesOf(hold(head + text.slice(offset)), true).nodes);
            return true;
          }
          size *= 2;
        } else size = usual = Math.min(usual * 2, limits.windowCharacters);
      }
      if (performance.now() > deadline) return false;
    }
  }

  return {
    take: (source, isDone) => {
      const next = normalised(source);
      if (!next.startsWith(text) || (done && (next !== text || !isDone))) reset();
      text = next;
      done = isDone;
    },
    work: (deadline) => {
      if (shown === text) return true;
      const whole = withTools(tools, () => work(deadline));
      if (whole && done) shown = text;
      return whole;
    },
  };
}

/** Where a window of about so many characters ends that begins at `offset`: with a whole line, or with the text. */
function windowEnd(text: string, offset: number, size: number): number {
  const rest = text.length - offset;
  let end = offset + Math.min(rest, size);
  let lines = 0;
  const most = (limits.windowLines * size) / limits.windowCharacters;
  for (let at = text.indexOf('\n', offset); at >= 0 && at < end; at = text.indexOf('\n', at + 1)) {
    if (++lines >= most) return at + 1;
  }
  if (end < text.length) {
    const line = text.lastIndexOf('\n', end - 1) + 1;
    if (line > offset) return line;
    const next = text.indexOf('\n', end);
    end = next < 0 ? text.length : next + 1;
  }
  return end;
}
