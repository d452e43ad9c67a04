/**
 * The same function, which remembers its last answer: for what nearly all requests have in common and a map would only find
 * again by looking at all of the text.
 */
export function lastOf<T>(make: (text: string) => T): (text: string) => T {
  let last: { readonly text: string; readonly made: T } | undefined;
  return (text) => {
    if (last?.text !== text) last = { text, made: make(text) };
    return last.made;
  };
}
