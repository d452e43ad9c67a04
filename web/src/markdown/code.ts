import { toClipboard } from '../components/clipboard.ts';
import { createCodeLines } from './code-lines.ts';
import { type DiagramView, isDiagram, showDiagram } from './diagram.ts';
import { highlight } from './highlight.ts';
import { type Component, registerHost, type Tools } from './hosts.ts';
import { limits } from './limits.ts';
import { previewFrame } from './preview.ts';

/** Colouring again while code grows may take this share of the time. */
const SHARE = 4;
const PAUSE = 150;

registerHost('code', createCode);

/** A block of code: its language, buttons to copy, wrap and preview, and its lines, coloured as they come. */
function createCode(host: HTMLElement, tools: Tools): Component {
  const { words } = tools;
  let source = '';
  let language = '';
  let isOpen = true;
  let showsAll = false;
  let coloured: string | undefined;
  let colouring = false;
  let destroyed = false;
  let hopeless = false;
  let last = { at: 0, took: 0 };
  let timer: ReturnType<typeof setTimeout> | undefined;
  let diagram: DiagramView | undefined;

  const label = element('span', 'markdown-code-language');
  const wrap = button(words.wrap, 'wrap');
  wrap.setAttribute('aria-pressed', 'false');
  const preview = button(words.preview, 'preview');
  const sourceButton = button(words.source, 'source');
  sourceButton.setAttribute('aria-pressed', 'false');
  const bar = element('div', 'markdown-code-bar');
  const pre = element('pre', 'markdown-scroll');
  const code = element('code', '');
  const more = button(words.showAll, 'all');
  more.className = 'markdown-more';
  pre.setAttribute('dir', 'ltr');
  pre.setAttribute('tabindex', '0');
  // Not a region: with all code and all tables the list of a page's parts would be of no use.
  pre.setAttribute('role', 'group');
  pre.append(code);
  const lines = createCodeLines(code);

  function read(from: Element): void {
    source = (from.textContent ?? '').replace(/\n$/, '');
    language = (from.getAttribute('data-info') ?? '').toLowerCase();
    isOpen = from.hasAttribute('data-open');
  }

  function show(): void {
    host.dataset['info'] = language;
    host.toggleAttribute('data-open', isOpen);
    if (label.textContent !== language) label.textContent = language;
    pre.setAttribute('aria-label', language === '' ? words.code : words.codeIn + language);
    const shown = showsAll ? source : beginning(source);
    lines.show(shown);
    attach(more, shown.length < source.length, host);
    attach(preview, !isOpen && /^(?:html|svg|xhtml)$/.test(language), bar, wrap);
    colour(shown);
    draw();
  }

  function colour(shown: string): void {
    if (language === '' || hopeless || colouring || shown === coloured || !isColourable(shown)) return;
    const wait = isOpen ? Math.max(PAUSE, last.took * SHARE) - (performance.now() - last.at) : 0;
    clearTimeout(timer);
    colouring = true;
    const end = tools.begin();
    timer = setTimeout(
      async () => {
        const begun = performance.now();
        const asked = showsAll ? source : beginning(source);
        const runs = await highlight(asked, language);
        const finish = () => {
          last = { at: performance.now(), took: performance.now() - begun };
          coloured = asked;
          colouring = false;
          if (!destroyed) colour(showsAll ? source : beginning(source));
          end();
        };
        hopeless = runs === undefined;
        if (destroyed || runs === undefined) finish();
        else lines.colour(runs, finish);
      },
      Math.max(0, wait),
    );
  }

  /** A diagram stands above its source, which hides behind a button; without one the source is all there is. */
  function draw(): void {
    if (isOpen || !isDiagram(language) || source.length > limits.diagram || diagram?.source === source) return;
    diagram?.destroy();
    diagram = showDiagram(source, tools, (figure) => {
      host.querySelector(':scope > .markdown-diagram')?.remove();
      bar.after(figure);
      pre.hidden = true;
      attach(sourceButton, true, bar, wrap);
      // There are lines to wrap once the source is shown.
      wrap.hidden = true;
    });
  }

  const actions: Readonly<Record<string, (pressed: HTMLElement) => void>> = {
    copy: async (pressed) => {
      if (!(await toClipboard(source))) return;
      pressed.textContent = words.copied;
      setTimeout(() => {
        pressed.textContent = words.copy;
      }, 2_000);
    },
    wrap: (pressed) => {
      const wraps = host.toggleAttribute('data-wrap');
      pressed.setAttribute('aria-pressed', String(wraps));
    },
    source: (pressed) => {
      pre.hidden = !pre.hidden;
      wrap.hidden = pre.hidden;
      pressed.setAttribute('aria-pressed', String(!pre.hidden));
    },
    preview: (pressed) => {
      const frame = host.querySelector('iframe');
      if (frame === null) host.append(previewFrame(source, tools));
      else frame.remove();
      pressed.textContent = frame === null ? words.closePreview : words.preview;
    },
    all: () => {
      showsAll = true;
      show();
    },
  };

  read(host);
  host.className = 'markdown-code';
  bar.append(label, wrap, button(words.copy, 'copy'));
  host.replaceChildren(bar, pre);
  show();

  return {
    update: (wanted) => {
      read(wanted);
      show();
    },
    act: (action, pressed) => actions[action]?.(pressed),
    destroy: () => {
      destroyed = true;
      lines.stop();
      diagram?.destroy();
    },
  };
}

/** Colours help nobody in code that a machine has made into one line, and cost most there. */
function isColourable(code: string): boolean {
  if (code.length > limits.highlight) return false;
  for (let from = 0; from < code.length; ) {
    const end = code.indexOf('\n', from);
    if ((end < 0 ? code.length : end) - from > limits.highlightLine) return false;
    if (end < 0) break;
    from = end + 1;
  }
  return true;
}

/** As much of a long code as is shown at first. */
function beginning(source: string): string {
  let end = Math.min(source.length, limits.codeCharacters);
  let at = -1;
  for (let line = 0; line < limits.codeLines; line++) {
    at = source.indexOf('\n', at + 1);
    if (at < 0 || at >= end) return source.slice(0, end);
  }
  end = at;
  return source.slice(0, end);
}

function attach(part: HTMLElement, wanted: boolean, parent: HTMLElement, before: Node | null = null): void {
  if (wanted === (part.parentNode === parent)) return;
  if (wanted) parent.insertBefore(part, before);
  else part.remove();
}

function element(tag: string, className: string): HTMLElement {
  const made = document.createElement(tag);
  if (className !== '') made.className = className;
  return made;
}

function button(text: string, action: string): HTMLButtonElement {
  const made = document.createElement('button');
  made.type = 'button';
  made.dataset['action'] = action;
  made.textContent = text;
  return made;
}
