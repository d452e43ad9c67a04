/** What the browser tests drive in a page; no part of the built page. */
import './code.ts';
import './formula.ts';
import './plain.ts';
import { createDocument } from './document.ts';
import { createGrammar } from './grammar.ts';
import { type Tools, withTools } from './hosts.ts';
import { createRenderer, type Renderer, type RendererOptions } from './index.ts';
import { createPlacer } from './placer.ts';
import { createReferences } from './references.ts';
import { sanitised } from './sanitise.ts';
import { wordsOf } from './words.ts';

const words = wordsOf('en');
const tools: Tools = { words, begin: () => () => {} };
const grammar = createGrammar(words);

/** Renders a text in pieces that end at `cuts`, all at once, and by one parse of the whole: HTML that should be the same. */
function inPieces(text: string, cuts: readonly number[]): { pieces: string; once: string; whole: string } {
  const growing = document.createElement('div');
  const pieces = createDocument(growing, grammar, tools);
  for (const cut of cuts) {
    pieces.take(text.slice(0, cut), false);
    while (!pieces.work(performance.now()));
  }
  pieces.take(text, true);
  while (!pieces.work(Number.POSITIVE_INFINITY));

  const complete = document.createElement('div');
  const once = createDocument(complete, grammar, tools);
  once.take(text, true);
  while (!once.work(Number.POSITIVE_INFINITY));

  const parsed = document.createElement('div');
  withTools(tools, () => {
    const references = createReferences();
    // The first parse finds the definitions, the second uses them.
    grammar.render(text, references.surroundings(false).env);
    createPlacer(parsed).commit([...sanitised(grammar.render(text, references.surroundings(false).env)).childNodes]);
  });
  return { pieces: normal(growing), once: normal(complete), whole: normal(parsed) };
}

/** HTML without what does not count: how text is split into nodes, in which order attributes stand, and colours. */
function normal(element: HTMLElement): string {
  const copy = element.cloneNode(true) as HTMLElement;
  for (const line of copy.querySelectorAll('.markdown-line')) line.replaceChildren(line.textContent ?? '');
  for (const formula of copy.querySelectorAll('.markdown-formula')) {
    formula.className = 'markdown-formula';
    formula.replaceChildren('formula');
  }
  for (const each of copy.querySelectorAll('*')) {
    const attributes = [...each.attributes].sort((a, b) => (a.name < b.name ? -1 : 1));
    for (const { name } of attributes) each.removeAttribute(name);
    for (const { name, value } of attributes) if (name !== 'class' || value !== '') each.setAttribute(name, value);
  }
  copy.normalize();
  return copy.innerHTML;
}

const OWN_TAGS = new Set(
  (
    'A P BR HR H1 H2 H3 H4 H5 H6 STRONG EM S DEL CODE PRE UL OL LI BLOCKQUOTE TABLE THEAD TBODY TR TH TD IMG VIDEO AUDIO ' +
    'INPUT DIV SPAN BUTTON FIGURE WBR SUP DETAILS SUMMARY'
  ).split(' '),
);

/** Everything in a rendered text that could run, or reach another host by itself. */
function dangers(element: Element): string[] {
  const found: string[] = [];
  for (const each of element.querySelectorAll('*')) {
    if (each.closest('.katex') !== null) {
      if (/^(?:script|iframe|object|embed|image|use|foreignObject|a|style|link)$/i.test(each.nodeName))
        found.push(each.nodeName);
    } else if (!OWN_TAGS.has(each.nodeName)) found.push(each.nodeName);
    for (const { name, value } of each.attributes) {
      if (/^on|^srcdoc$|^formaction$|^action$|^background$|^ping$|^srcset$|^xlink/i.test(name))
        found.push(`${name}=${value}`);
      if (name === 'style' && each.closest('.katex') === null) found.push(`style=${value}`);
      if (name === 'style' && /url|expression|position:\s*fixed/i.test(value)) found.push(`style=${value}`);
      if (
        name === 'href' &&
        !/^(?:https?:\/\/|mailto:|tel:|\/(?:media|images|thumbnail|search|files)\/)/i.test(value)
      ) {
        found.push(`href=${value}`);
      }
      if (name === 'href' && each.getAttribute('rel')?.includes('noopener') !== true) found.push(`no rel at ${value}`);
      if (/^(?:src|poster|data-src)$/.test(name)) {
        const inside = /^data:image\/(?:png|jpeg|gif|webp);|^blob:|^\/(?:media|images|thumbnail|search|files)\//i.test(
          value,
        );
        const url = new URL(value, location.href);
        if (!inside || (url.protocol.startsWith('http') && url.origin !== location.origin))
          found.push(`${name}=${value}`);
      }
    }
  }
  return found;
}

let renderer: Renderer | undefined;

function open(options?: RendererOptions): HTMLElement {
  renderer?.destroy();
  const container = document.querySelector<HTMLElement>('#markdown');
  if (container === null) throw new Error('The page has no place for markdown');
  renderer = createRenderer(container, options);
  return container;
}

async function render(text: string, done = true, options?: RendererOptions): Promise<string> {
  const container = open(options);
  renderer?.update(text, done);
  await renderer?.settled();
  return container.innerHTML;
}

async function update(text: string, done: boolean): Promise<string> {
  renderer?.update(text, done);
  await renderer?.settled();
  return document.querySelector('#markdown')?.innerHTML ?? '';
}

/** Feeds a text at a pace, in pieces of about four characters: a token each. */
async function stream(text: string, tokensPerSecond: number): Promise<{ longTasks: number[]; shifts: number }> {
  open();
  const longTasks: number[] = [];
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) longTasks.push(entry.duration);
  });
  observer.observe({ type: 'longtask' });
  const begin = performance.now();
  for (let shown = 0; shown < text.length; ) {
    await new Promise((resolve) => setTimeout(resolve, 8));
    shown = Math.min(text.length, Math.floor(((performance.now() - begin) / 1000) * tokensPerSecond) * 4);
    renderer?.update(text.slice(0, shown), false);
  }
  renderer?.update(text, true);
  await renderer?.settled();
  observer.disconnect();
  return { longTasks, shifts: 0 };
}

/** How many characters the grammar reads while a text comes in pieces of `size`. */
function characters(text: string, size: number): number {
  const counting = createGrammar(words);
  let read = 0;
  const { render: inner } = counting;
  const { parse } = counting.block;
  counting.render = (source, env) => {
    read += source.length;
    return inner.call(counting, source, env);
  };
  counting.block.parse = (source, grammar, env, tokens) => {
    read += source.length;
    parse.call(counting.block, source, grammar, env, tokens);
  };
  const growing = createDocument(document.createElement('div'), counting, tools);
  for (let shown = size; shown <= text.length; shown += size) {
    growing.take(text.slice(0, shown), false);
    while (!growing.work(Number.POSITIVE_INFINITY));
  }
  return read;
}

Object.assign(window, { markdown: { inPieces, characters, normal, dangers, open, render, update, stream } });
