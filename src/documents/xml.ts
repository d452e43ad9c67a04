import { Refusal } from './conversion.ts';

/** What happens while XML is read. Names come without their namespace's prefix. */
export interface XmlEvents {
  open?(name: string, attributes: XmlAttributes): void;
  close?(name: string): void;
  text?(text: string): void;
}

/** Of one tag; read only when asked for. */
export interface XmlAttributes {
  /** The value of an attribute, by its name as written, prefix included. */
  get(name: string): string | undefined;
}

const NAMED: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/**
 * Reads XML from its beginning to its end, building nothing. It is made for the parts of zipped documents: it does not check
 * that elements are closed, and knows no entities but the five of XML itself. Throws a `Refusal` where a tag does not end.
 */
export function readXml(xml: string, events: XmlEvents): void {
  let at = 0;
  for (;;) {
    const tag = xml.indexOf('<', at);
    if (tag > at) events.text?.(decodeEntities(xml.slice(at, tag)));
    if (tag === -1) return;
    at = xml[tag + 1] === '!' || xml[tag + 1] === '?' ? skip(xml, tag, events) : readTag(xml, tag, events);
  }
}

/** The text of `&amp;`, `&#10;`, `&#xA;` and the like; what is unknown stays as written. */
export function decodeEntities(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(
    /&(?:#(\d{1,7})|#x([\da-f]{1,6})|(\w{1,8}));/gi,
    (whole, decimal, hex, name: string | undefined) => {
      if (name !== undefined) return (Object.hasOwn(NAMED, name) ? NAMED[name] : undefined) ?? whole;
      const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
      return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole;
    },
  );
}

/** Comments, instructions, declarations; character data are text. Returns where the next thing begins. */
function skip(xml: string, at: number, events: XmlEvents): number {
  if (xml.startsWith('<!--', at)) return endOf(xml, '-->', at + 4);
  if (xml[at + 1] === '?') return endOf(xml, '?>', at + 2);
  if (!xml.startsWith('<![CDATA[', at)) return endOf(xml, '>', at + 2);
  const end = endOf(xml, ']]>', at + 9);
  events.text?.(xml.slice(at + 9, end - 3));
  return end;
}

function endOf(xml: string, mark: string, from: number): number {
  const end = xml.indexOf(mark, from);
  if (end === -1) throw new Refusal('is damaged: its XML ends in the middle');
  return end + mark.length;
}

function readTag(xml: string, start: number, events: XmlEvents): number {
  const end = tagEnd(xml, start + 1);
  const isEmpty = xml[end - 1] === '/';
  const tag = xml.slice(start + 1, isEmpty ? end - 1 : end);
  if (tag.startsWith('/')) {
    events.close?.(localName(tag.slice(1).trim()));
    return end + 1;
  }
  const space = tag.search(/\s/);
  const name = localName(space === -1 ? tag : tag.slice(0, space));
  events.open?.(name, new Attributes(space === -1 ? '' : tag.slice(space)));
  if (isEmpty) events.close?.(name);
  return end + 1;
}

/** Where a tag's `>` is, those inside quoted values passed over. */
function tagEnd(xml: string, from: number): number {
  let quote = '';
  for (let at = from; at < xml.length; at += 1) {
    const character = xml[at] as string;
    if (quote !== '') {
      if (character === quote) quote = '';
    } else if (character === '>') return at;
    else if (character === '"' || character === "'") quote = character;
  }
  throw new Refusal('is damaged: its XML ends in the middle');
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}

/** From one to the next without a gap, so that nothing within a value is taken for a name. */
const ATTRIBUTE = /\s*([^\s=]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/gy;

/** Attributes are looked for when they are asked for: most of a spreadsheet's never are. */
class Attributes implements XmlAttributes {
  readonly #source: string;

  constructor(source: string) {
    this.#source = source;
  }

  get(name: string): string | undefined {
    for (const [, found, double, single] of this.#source.matchAll(ATTRIBUTE)) {
      if (found === name) return decodeEntities(double ?? single ?? '');
    }
    return undefined;
  }
}
