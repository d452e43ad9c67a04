/** An address inside the page: `#/chat/abc` is screen `chat`, path `['abc']`. */
export interface Route {
  readonly screen: string;
  readonly path: readonly string[];
}

/** Without a path it is the screen `chat`; what cannot be decoded stays as written. */
export function parseRoute(hash: string): Route {
  const [screen = '', ...path] = hash
    .replace(/^#?\/?/, '')
    .split('/')
    .filter((part) => part !== '')
    .map(decode)
    .map(withoutInherited);
  return { screen: screen === '' ? 'chat' : screen, path };
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Paths are looked up in objects, where what all objects inherit (`constructor`) must not be found: it becomes what no id is. */
function withoutInherited(part: string): string {
  return part in Object.prototype ? `/${part}` : part;
}

/** The address of a screen, for links. */
export function addressOf(screen: string, ...path: readonly string[]): string {
  return `#/${[screen, ...path].map(encodeURIComponent).join('/')}`;
}

/** Goes to a screen; `replace` leaves no step in the history. */
export function goTo(address: string, { replace = false } = {}): void {
  if (replace) {
    history.replaceState(null, '', address);
    dispatchEvent(new HashChangeEvent('hashchange'));
  } else location.hash = address;
}
