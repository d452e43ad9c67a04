import type { Env } from 'markdown-it';

const INLINE_PICTURE = /data:image\/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/]{200,}={0,2}/g;
const STANDS_FOR = /sluice-picture:(\d{1,4})(?!\d)/g;

/** Takes long pictures out of a source: a megabyte within a line would be read as words by every rule of the grammar. */
export function withoutPictures(source: string, env: Env): string {
  if (!source.includes('data:image/')) return source;
  const pictures: string[] = [];
  env['pictures'] = pictures;
  return source.replace(INLINE_PICTURE, (address) => `sluice-picture:${pictures.push(address) - 1}`);
}

/** Puts them back where they are shown: in an address, or in text that stays as it was. */
export function withPictures(text: string, env: Env | undefined): string {
  const pictures = env?.['pictures'];
  if (!Array.isArray(pictures)) return text;
  return text.replace(STANDS_FOR, (whole, number: string) => String(pictures[Number(number)] ?? whole));
}

/** Where a text is cut that is longer than `most` without its pictures: at the end of a line when one is near. */
export function cutAt(text: string, most: number): number {
  if (text.length <= most) return text.length;
  let end = most;
  for (const { index, 0: address } of text.matchAll(INLINE_PICTURE)) {
    if (index > end) break;
    end += address.length;
  }
  if (end >= text.length) return text.length;
  const line = text.lastIndexOf('\n', end);
  return line >= 0 && line > end - 10_000 ? line + 1 : end;
}
