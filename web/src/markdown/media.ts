import { linkAddress, mediaAddress } from './addresses.ts';

/** HTML that Sluice itself writes into answers (`src/media/markup.ts`), read attribute by attribute; nothing else is HTML. */
export type MediaMarkup =
  | { readonly kind: 'picture'; readonly href: string; readonly attributes: Readonly<Record<string, string>> }
  | { readonly kind: 'image' | 'video' | 'audio'; readonly attributes: Readonly<Record<string, string>> }
  | { readonly kind: 'remote'; readonly href: string; readonly alt: string }
  | { readonly kind: 'break' };

interface MediaFound {
  readonly markup: MediaMarkup;
  readonly length: number;
}

const TAG =
  /<(a|img|video|audio|br)((?:\s+[a-z][\w-]{0,30}(?:\s*=\s*(?:"[^"<>]{0,4000}"|'[^'<>]{0,4000}'))?){0,12})\s*\/?>/iy;
const ATTRIBUTE = /([a-z][\w-]*)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'))?/gi;

/** Reads such markup at `at`. Undefined for all other HTML, which then stays text. */
export function mediaAt(text: string, at: number): MediaFound | undefined {
  const opening = tagAt(text, at);
  if (opening === undefined) return undefined;
  const { name, attributes, end } = opening;
  if (name === 'br') return { markup: { kind: 'break' }, length: end - at };
  if (name === 'img') {
    const kept = only(attributes, ['src', 'alt']);
    const markup = kept === undefined ? remote(attributes) : ({ kind: 'image', attributes: kept } as const);
    return markup && { markup, length: end - at };
  }
  if (name === 'a') return pictureAt(text, at, attributes, end);
  const kind = name === 'video' ? 'video' : 'audio';
  const kept = only(attributes, ['src', 'poster']);
  const closing = `</${kind}>`;
  if (text.slice(end, end + closing.length).toLowerCase() !== closing) return undefined;
  const markup = kept === undefined ? remote(attributes) : ({ kind, attributes: kept } as const);
  return markup && { markup, length: end + closing.length - at };
}

/** Media of another host are not loaded, which would tell it who reads this, but linked. */
function remote(attributes: Attributes): MediaMarkup | undefined {
  const href = linkAddress(attributes['src'] ?? '');
  return href === undefined ? undefined : { kind: 'remote', href, alt: attributes['alt'] ?? '' };
}

/** `<a href data-src …><img src="/thumbnail/…"></a>` */
function pictureAt(text: string, at: number, link: Attributes, end: number): MediaFound | undefined {
  const image = tagAt(text, end);
  if (image?.name !== 'img' || text.slice(image.end, image.end + 4).toLowerCase() !== '</a>') return undefined;
  const href = mediaAddress(link['href'] ?? '');
  const kept = only(image.attributes, ['src', 'alt']);
  if (href === undefined || kept === undefined) return undefined;
  const size = sizeWithin(Number(link['data-width']), Number(link['data-height']));
  return { markup: { kind: 'picture', href, attributes: { ...kept, ...size } }, length: image.end + 4 - at };
}

/** Thumbnails are at most 400 pixels wide and high; a known size keeps the page from jumping when they arrive. */
export function sizeWithin(width: number, height: number): Attributes {
  if (!(width > 0 && height > 0 && width < 100_000 && height < 100_000)) return {};
  const scale = Math.min(1, 400 / width, 400 / height);
  return {
    width: String(Math.max(1, Math.round(width * scale))),
    height: String(Math.max(1, Math.round(height * scale))),
  };
}

type Attributes = Record<string, string>;

function tagAt(text: string, at: number): { name: string; attributes: Attributes; end: number } | undefined {
  TAG.lastIndex = at;
  const match = TAG.exec(text);
  if (match === null) return undefined;
  const attributes: Attributes = {};
  for (const [, name = '', double, single] of (match[2] ?? '').matchAll(ATTRIBUTE)) {
    attributes[name.toLowerCase()] = unescaped(double ?? single ?? '');
  }
  return { name: (match[1] ?? '').toLowerCase(), attributes, end: at + match[0].length };
}

/** Of `names` those that are there, when the source is one that may be loaded. */
function only(attributes: Attributes, names: readonly string[]): Attributes | undefined {
  const src = mediaAddress(attributes['src'] ?? '');
  if (src === undefined) return undefined;
  const kept: Attributes = {};
  for (const name of names) {
    const value = name === 'src' ? src : name === 'poster' ? mediaAddress(attributes[name] ?? '') : attributes[name];
    if (value !== undefined) kept[name] = value;
  }
  return kept;
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', quot: '"', lt: '<', gt: '>', '#39': "'" };

function unescaped(text: string): string {
  return text.replace(/&(amp|quot|lt|gt|#39);/g, (whole, name: string) => ENTITIES[name] ?? whole);
}
