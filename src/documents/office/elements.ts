/** All elements of a name in XML as it is written, prefix included, that do not nest; one that does not end is none. */
export function* elements(xml: string, name: string): Generator<string> {
  for (const [start, end] of placesOf(xml, name)) yield xml.slice(start, end);
}

/** The XML with something else for each of the elements of a name. */
export function replaceElements(xml: string, name: string, made: (element: string) => string): string {
  let changed = '';
  let copied = 0;
  for (const [start, end] of placesOf(xml, name)) {
    changed += xml.slice(copied, start) + made(xml.slice(start, end));
    copied = end;
  }
  return changed + xml.slice(copied);
}

/** A pattern that is tried at each start would look for its end from each of them, the square of what a file may hold. */
function* placesOf(xml: string, name: string): Generator<[start: number, end: number]> {
  const open = new RegExp(`<${name}(?=[\\s>])`, 'g');
  const close = `</${name}>`;
  for (let match = open.exec(xml); match !== null; match = open.exec(xml)) {
    const end = xml.indexOf(close, open.lastIndex);
    if (end === -1) return;
    open.lastIndex = end + close.length;
    yield [match.index, open.lastIndex];
  }
}
