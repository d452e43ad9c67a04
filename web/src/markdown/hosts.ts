import type { Words } from './words.ts';

/** What brings a host to life: an element that shows more than its source. */
export interface Component {
  /** Takes over the source and the attributes of a newer form of the host. */
  update(wanted: Element): void;
  /** Answers one of the host's buttons. */
  act?(action: string, button: HTMLElement): void;
  destroy?(): void;
}

/** What components need of the renderer they live in. */
export interface Tools {
  readonly words: Words;
  /** An HTML document of the server in which previews run; without it they run in a `srcdoc`. */
  readonly previewUrl?: string;
  /** Tells that work goes on that changes the page later; call the result when it is over. */
  begin(): () => void;
}

type ComponentMaker = (host: HTMLElement, tools: Tools) => Component;

const makers = new Map<string, ComponentMaker>();
const components = new WeakMap<Element, Component>();

/** Says who brings hosts with this `data-host` to life. */
export function registerHost(kind: string, maker: ComponentMaker): void {
  makers.set(kind, maker);
}

/** Undefined: it is no host, or not alive. */
export function componentOf(element: Element): Component | undefined {
  return components.get(element);
}

let tools: Tools | undefined;

/** Runs `work` during which hosts that come into the page belong to this renderer. */
export function withTools<T>(those: Tools, work: () => T): T {
  tools = those;
  try {
    return work();
  } finally {
    tools = undefined;
  }
}

/** Brings to life what came into the page. */
export function adopt(element: Element): void {
  if (tools === undefined) return;
  for (const host of hostsIn(element)) {
    const maker = makers.get(host.getAttribute('data-host') ?? '');
    if (maker !== undefined && !components.has(host)) components.set(host, maker(host, tools));
  }
}

/** Stops what was taken out of the page. */
export function discard(element: Element): void {
  for (const host of hostsIn(element)) {
    components.get(host)?.destroy?.();
    components.delete(host);
  }
}

function hostsIn(element: Element): HTMLElement[] {
  const inside = [...element.querySelectorAll<HTMLElement>('[data-host]')];
  return element.hasAttribute('data-host') ? [element as HTMLElement, ...inside] : inside;
}
