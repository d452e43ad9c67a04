/** Streaming markdown for answers of models: hostile input, rendered as it comes. `createRenderer` is all there is to it. */
import './code.ts';
import './formula.ts';
import './plain.ts';
import { createDocument } from './document.ts';
import { grammarFor } from './grammar.ts';
import { componentOf, discard, type Tools } from './hosts.ts';
import { limits } from './limits.ts';
import { sizeWithin } from './media.ts';
import { cutAt } from './pictures.ts';
import { onFrame } from './schedule.ts';
import { type Words, wordsOf } from './words.ts';

export type { Words } from './words.ts';

/** What a page may want otherwise than it is done by itself. */
export interface RendererOptions {
  /** The words on buttons; by default those of `language`. */
  readonly words?: Words;
  /** A language tag; by default that of the page. */
  readonly language?: string;
  /** An HTML document of the server in which previews of HTML run (see `preview.ts`). */
  readonly previewUrl?: string;
  /** Opens a picture of this server in a viewer. Without it pictures open in a tab of their own. */
  readonly openPicture?: (address: string, element: HTMLElement) => void;
  /** Called after the page has changed, for keeping the scroll position. */
  readonly onChange?: () => void;
}

/** Markdown as it is shown in one container. */
export interface Renderer {
  /** Takes the whole text as it is now. `done` says that it will not grow; then it may still be replaced. */
  update(text: string, done: boolean): void;
  /** When everything is shown, with formulas, colours and diagrams. */
  settled(): Promise<void>;
  destroy(): void;
}

/** How long the page's thread is held in one go, in milliseconds. */
const SLICE = 5;
/** Reading a long last block again and again may take one part in so many of the time. */
const SHARE = 4;
/** A picture with this many pixels each way, though with fewer than others have, is shown as it is: it may stand among words. */
const LEGIBLE = 12;
const LARGE = 48;

/** Shows markdown in `container`, which it fills. A text that is complete from the start is shown at once, as far as it goes quickly. */
export function createRenderer(container: HTMLElement, options: RendererOptions = {}): Renderer {
  const words = options.words ?? wordsOf(options.language ?? document.documentElement.lang);
  let running = 0;
  let listeners: (() => void)[] = [];
  const tools: Tools = {
    words,
    ...(options.previewUrl !== undefined && { previewUrl: options.previewUrl }),
    begin: () => {
      running++;
      let over = false;
      return () => {
        if (over) return;
        over = true;
        running--;
        options.onChange?.();
        tell();
      };
    },
  };
  const body = document.createElement('div');
  const more = document.createElement('button');
  more.type = 'button';
  more.className = 'markdown-more';
  container.classList.add('markdown');
  container.replaceChildren(body);
  const markdown = createDocument(body, grammarFor(words), tools);

  let text = '';
  let done = false;
  let most: number = limits.text;
  let idle = true;
  let cancel: (() => void) | undefined;
  let begun = false;
  let notBefore = 0;

  function work(): void {
    cancel = undefined;
    const begin = performance.now();
    if (begin < notBefore && !done) {
      schedule();
      return;
    }
    const end = cutAt(text, most);
    markdown.take(end < text.length ? text.slice(0, end) : text, done || end < text.length);
    const whole = markdown.work(begin + SLICE);
    container.ariaBusy = String(!done || !whole);
    if (end < text.length) {
      more.textContent = `${words.showAll} (${text.length.toLocaleString()})`;
      if (!more.isConnected) container.append(more);
    } else more.remove();
    const took = performance.now() - begin;
    notBefore = whole && took > SLICE / 2 ? begin + took * SHARE : 0;
    idle = whole;
    if (!whole) schedule();
    options.onChange?.();
    tell();
  }

  function schedule(): void {
    cancel ??= onFrame(work);
  }

  function tell(): void {
    if (!idle || running > 0) return;
    const all = listeners;
    listeners = [];
    for (const each of all) each();
  }

  function click(event: MouseEvent): void {
    const target = event.target instanceof Element ? event.target : undefined;
    if (target === undefined) return;
    if (target === more) {
      most = Number.POSITIVE_INFINITY;
      idle = false;
      schedule();
      return;
    }
    const button = target.closest<HTMLElement>('button[data-action]');
    if (button !== null) {
      press(button);
      return;
    }
    const picture = target.closest<HTMLElement>('a[data-src], img');
    const address = picture?.getAttribute('data-src') ?? picture?.getAttribute('src');
    if (picture === null || typeof address !== 'string' || options.openPicture === undefined) return;
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    options.openPicture(address, picture);
  }

  const shapes = new WeakSet<Element>();

  /** A picture of which no size was known takes its own shape. */
  function shape({ target }: Event): void {
    if (!(target instanceof HTMLImageElement) || target.closest('.markdown-diagram') !== null) return;
    if (target.hasAttribute('width') && !shapes.has(target)) return;
    shapes.add(target);
    const size = sizeWithin(target.naturalWidth, target.naturalHeight);
    for (const [name, value] of Object.entries(size)) target.setAttribute(name, value);
    const least = Math.min(...Object.values(size).map(Number));
    target.toggleAttribute('data-small', least >= LEGIBLE && least < LARGE);
    options.onChange?.();
  }

  container.addEventListener('click', click);
  // It does not bubble.
  container.addEventListener('load', shape, true);

  return {
    update: (next, isDone) => {
      text = next;
      done = isDone;
      idle = false;
      container.ariaBusy = 'true';
      if (isDone && !begun) work();
      else schedule();
      begun = true;
    },
    settled: () =>
      new Promise((resolve) => {
        listeners.push(resolve);
        tell();
      }),
    destroy: () => {
      cancel?.();
      container.removeEventListener('click', click);
      container.removeEventListener('load', shape, true);
      discard(body);
      container.replaceChildren();
    },
  };
}

function press(button: HTMLElement): void {
  const action = button.dataset['action'] ?? '';
  if (action === 'rows') {
    button.parentElement?.setAttribute('data-all', '');
    for (const row of button.parentElement?.querySelectorAll('tr[hidden]') ?? []) row.removeAttribute('hidden');
    return;
  }
  const host = button.closest('[data-host]');
  if (host !== null) componentOf(host)?.act?.(action, button);
}
