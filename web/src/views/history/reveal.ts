import { app } from '../../state/app.ts';
import { marked, termsOf } from '../../state/history-text.ts';
import { addressOf, goTo } from '../../state/route.ts';
import { leafBelow, type MessageMap, pathTo } from '../../state/tree.ts';
import { loadMessages } from '../../storage/keep.ts';
import { type Anchor, FIRST_BATCH, places, topIn } from '../chat/places.ts';

/** How long a message may take to be there, in milliseconds: of a long chat the earlier ones come later. */
const PATIENCE_MS = 8_000;
/** How often a message is looked at again whether it has changed, at least and at most, and how much later each time. */
const LOOKS = 3;
const MOST_LOOKS = 8;
const BETWEEN_LOOKS_MS = 100;
/** How long what was found stands out. */
const SHOWN_MS = 6_000;
/** What is left free above it. */
const ABOVE = 80;
/** By what one sees that somebody goes on with something else. */
const ACTS = ['wheel', 'touchmove', 'mousedown', 'keydown'] as const;

/** Opens a chat at a message, on whatever branch that is, at the place where the words of `search` are. */
export async function openAt(chat: string, message: string, search: string): Promise<void> {
  // Where they cannot be read, the chat says so.
  const messages = await loadMessages(chat).catch((): MessageMap => ({}));
  if (messages[message] === undefined) return goTo(addressOf('chat', chat));
  const leaf = leafBelow(messages, message);
  if (app.get().chats.byId[chat]?.leaf !== leaf) {
    app.dispatch({ type: 'chats/changed', id: chat, change: { leaf } });
  }
  // Of a long chat the messages from there on come first. Near the end they do anyway.
  const anchor: Anchor = { id: message, top: ABOVE };
  if (isFarUp(messages, message, leaf)) places.set(chat, anchor);
  else places.delete(chat);
  goTo(addressOf('chat', chat));
  const someone = new AbortController();
  for (const act of ACTS) {
    const leave = (event: Event): void => {
      // Neither a key that is held nor the second press of a double click is another act.
      if (!(event instanceof KeyboardEvent && event.repeat) && !(event instanceof MouseEvent && event.detail > 1)) {
        someone.abort();
      }
    };
    addEventListener(act, leave, { capture: true, passive: true, signal: someone.signal });
  }
  const element = await appeared(`[data-message="${CSS.escape(message)}"]`);
  if (element === undefined) return someone.abort();
  // Several times: what comes into sight for the first time is dressed then, may be folded, and changes its height and its texts.
  const isMoving = (looks: number): boolean => looks < LOOKS || (looks < MOST_LOOKS && element.matches('.is-dressing'));
  for (let looks = 0; isMoving(looks); looks += 1) {
    await new Promise((resolve) => setTimeout(resolve, looks * BETWEEN_LOOKS_MS));
    if (someone.signal.aborted) return;
    element.querySelector<HTMLElement>('.fold[aria-expanded="false"]')?.click();
    scrollTo(highlight(element, search) ?? element);
    // That is kept, then, while the messages before it come.
    const area = element.closest<HTMLElement>('#scroll');
    if (area !== null) anchor.top = topIn(area, element);
  }
  someone.abort();
  element.setAttribute('tabindex', '-1');
  element.focus({ preventScroll: true });
}

/** Whether a chat that ends with `leaf` shows more messages behind this one than it shows at once. */
function isFarUp(messages: MessageMap, message: string, leaf: string): boolean {
  const path = pathTo(messages, leaf);
  return path.findIndex(({ id }) => id === message) < path.length - FIRST_BATCH;
}

/** Scrolls the conversation and nothing around it. */
function scrollTo(place: Element | Range): void {
  const area = document.querySelector('#scroll');
  if (area === null) return;
  const top = place.getBoundingClientRect().top - area.getBoundingClientRect().top;
  area.scrollTop += top - ABOVE;
}

let clearing: ReturnType<typeof setTimeout> | undefined;

/** Marks the words in a message without touching it; returns the first place, if there is one. */
function highlight(element: Element, search: string): Range | undefined {
  const terms = termsOf(search);
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  const ranges: Range[] = [];
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    for (const [from, to] of marked(node.textContent ?? '', terms).marks) {
      const range = new Range();
      range.setStart(node, from);
      range.setEnd(node, to);
      ranges.push(range);
    }
  }
  // Older browsers only scroll there.
  if ('highlights' in CSS && typeof Highlight !== 'undefined') {
    CSS.highlights.set('found', new Highlight(...ranges));
    clearTimeout(clearing);
    clearing = setTimeout(() => CSS.highlights.delete('found'), SHOWN_MS);
  }
  return ranges[0];
}

function appeared(selector: string): Promise<HTMLElement | undefined> {
  const find = (): HTMLElement | null => document.querySelector<HTMLElement>(selector);
  const there = find();
  if (there !== null) return Promise.resolve(there);
  return new Promise((resolve) => {
    const end = (element: HTMLElement | undefined): void => {
      observer.disconnect();
      clearTimeout(timer);
      resolve(element);
    };
    const observer = new MutationObserver(() => {
      const element = find();
      if (element !== null) end(element);
    });
    const timer = setTimeout(() => end(undefined), PATIENCE_MS);
    observer.observe(document.body, { childList: true, subtree: true });
  });
}
