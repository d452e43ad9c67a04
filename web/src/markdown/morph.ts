import { adopt, componentOf, discard } from './hosts.ts';

/**
 * Makes the children of `parent` from index `from` on look like `wanted`, changing only what differs: what stands there
 * already keeps its identity, so a selection, an open menu, a film that plays survive. `wanted` is used up. With `prune`
 * what comes behind goes.
 */
export function patchChildren(parent: Element, from: number, wanted: readonly Node[], prune: boolean): void {
  let old: Node | null = parent.childNodes[from] ?? null;
  for (const node of wanted) {
    const next: Node | null = old?.nextSibling ?? null;
    if (old === null) {
      parent.append(node);
      if (node instanceof Element) adopt(node);
    } else patch(old, node);
    old = next;
  }
  while (prune && old !== null) {
    const next: Node | null = old.nextSibling;
    if (old instanceof Element) discard(old);
    old.parentNode?.removeChild(old);
    old = next;
  }
}

/** Makes one node look like another, or puts the other in its place. */
export function patch(old: Node, wanted: Node, prune = true): void {
  if (old instanceof Text && wanted instanceof Text) {
    patchText(old, wanted.data);
    return;
  }
  if (old instanceof Element && wanted instanceof Element && isSameKind(old, wanted)) {
    const component = componentOf(old);
    if (component !== undefined) {
      component.update(wanted);
      return;
    }
    patchAttributes(old, wanted);
    patchChildren(old, 0, [...wanted.childNodes], prune);
    return;
  }
  old.parentNode?.replaceChild(wanted, old);
  if (old instanceof Element) discard(old);
  if (wanted instanceof Element) adopt(wanted);
}

function isSameKind(old: Element, wanted: Element): boolean {
  return old.nodeName === wanted.nodeName && old.getAttribute('data-host') === wanted.getAttribute('data-host');
}

function patchText(old: Text, data: string): void {
  if (old.data === data) return;
  if (data.startsWith(old.data)) old.appendData(data.slice(old.data.length));
  else old.data = data;
}

function patchAttributes(old: Element, wanted: Element): void {
  for (const { name, value } of wanted.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  if (old.attributes.length === wanted.attributes.length) return;
  for (const { name } of [...old.attributes]) {
    if (!wanted.hasAttribute(name) && !isOwnBusiness(old.nodeName, name)) old.removeAttribute(name);
  }
}

/** Whether something is unfolded is up to the reader, and how large a picture is shows when it comes. */
function isOwnBusiness(node: string, name: string): boolean {
  return node === 'DETAILS' ? name === 'open' : node === 'IMG' && ['width', 'height', 'data-small'].includes(name);
}
