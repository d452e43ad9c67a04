import type { MediaRef } from '../core/chunk.ts';
import { isDataUri } from '../core/data-uri.ts';
import { linkAddress } from '../core/link-address.ts';

/** Where media are, in the text of an answer. */
export function mediaLink({ kind, url, alt = '' }: MediaRef): string {
  const words = alt.replace(/[[\]\\<>\s]+/g, ' ').trim();
  return kind === 'image' ? `![${words}](${linkAddress(url)})` : `[${words || kind}](${linkAddress(url)})`;
}

/**
 * Media as the text of an answer, for formats that have no other place for them: of a sound what it says, else a link. To what came
 * inline that would be an endless text, which only a picture is worth: nothing else shows it.
 */
export function mediaInWords(media: MediaRef): string {
  if (media.kind === 'image') return mediaLink(media);
  return media.transcript ?? (isDataUri(media.url) ? '' : mediaLink(media));
}
