import type { MediaRef } from '../core/chunk.ts';
import { isDataUri } from '../core/data-uri.ts';
import { linkAddress } from '../core/link-address.ts';

/** Media in the text of an answer, for formats that have no other place for them. */
export function mediaLink({ kind, url, alt = '' }: MediaRef): string {
  const words = alt.replace(/[[\]\\<>\s]+/g, ' ').trim();
  return kind === 'image' ? `![${words}](${linkAddress(url)})` : `[${words || kind}](${linkAddress(url)})`;
}

/** The same of all but pictures: what a sound says, else a link. One that came inline would be an endless text. */
export function mediaInWords(media: MediaRef): string {
  return media.transcript ?? (isDataUri(media.url) ? '' : mediaLink(media));
}
