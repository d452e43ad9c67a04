import { type Component, registerHost, type Tools } from './hosts.ts';
import { limits } from './limits.ts';
import { sanitiseFormula } from './sanitise.ts';
import { inSlices } from './schedule.ts';

type Library = typeof import('katex')['default'];

let library: Library | undefined;
let loading: Promise<Library | undefined> | undefined;

registerHost('formula', createFormula);

/** When the present burst of formulas began. */
let burst = 0;

/** The first few formulas of a frame are rendered at once, so that nothing flickers; a thousand of them have to queue. */
function isInTime(): boolean {
  const now = performance.now();
  if (now - burst > 16) burst = now;
  return now - burst < 5;
}

/** A formula: its source until it is complete and the library is there; its source too when it is none. */
function createFormula(host: HTMLElement, tools: Tools): Component {
  let source = host.textContent ?? '';
  let rendered: string | undefined;
  let destroyed = false;

  function show(): void {
    if (host.hasAttribute('data-open') || source.length > limits.maths) {
      showSource();
      return;
    }
    if (rendered === source) return;
    if (library !== undefined && isInTime()) {
      render(library);
      return;
    }
    if (rendered === undefined) showSource();
    const asked = source;
    const end = tools.begin();
    load().then((loaded) => {
      inSlices(() => {
        if (loaded !== undefined && asked === source && !destroyed && !host.hasAttribute('data-open')) render(loaded);
        end();
        return false;
      });
    });
  }

  function showSource(): void {
    rendered = undefined;
    host.classList.add('markdown-formula-source');
    if (host.firstChild instanceof Text && host.childNodes.length === 1) host.firstChild.data = source;
    else host.replaceChildren(source);
  }

  function render(katex: Library): void {
    if (rendered === source) return;
    const made = document.createElement('span');
    try {
      // It sets styles as properties, not in an attribute, which is what the page's policy allows.
      katex.render(source, made, {
        displayMode: host.hasAttribute('data-display'),
        throwOnError: true,
        trust: false,
        strict: false,
        maxSize: 20,
        maxExpand: 200,
      });
    } catch {
      showSource();
      return;
    }
    sanitiseFormula(made);
    host.classList.remove('markdown-formula-source');
    host.replaceChildren(...made.childNodes);
    rendered = source;
  }

  host.classList.add('markdown-formula');
  show();
  return {
    update: (wanted) => {
      source = wanted.textContent ?? '';
      for (const name of ['data-open', 'data-display']) host.toggleAttribute(name, wanted.hasAttribute(name));
      show();
    },
    destroy: () => {
      destroyed = true;
    },
  };
}

function load(): Promise<Library | undefined> {
  loading ??= Promise.all([import('katex'), import('katex/dist/katex.min.css')]).then(
    ([{ default: loaded }]) => {
      library = loaded;
      return loaded;
    },
    () => {
      // Perhaps the next formula has more luck.
      loading = undefined;
      return undefined;
    },
  );
  return loading;
}
