import type { MediaRef } from '../core/chunk.ts';
import { isDataUri } from '../core/data-uri.ts';
import { mediaLink } from './link.ts';

/**
 * How media stand in the text of an answer, in markdown and the HTML that front ends of dialect A know: a picture of known
 * size as its thumbnail, linked; another picture as a plain image; audio and video as their elements. Sound that came inline
 * and is not kept has an element without an address: front ends play what comes beside the text.
 */
export function mediaMarkup(media: MediaRef): string {
  const { kind, url, alt = '', number, transcript } = media;
  switch (kind) {
    case 'image': {
      const words = number === undefined ? alt : `#${number} ${alt}`.trim();
      return picture(media, words);
    }
    case 'video':
      return `<video src="${escaped(url)}" controls></video>`;
    case 'audio': {
      const source = isDataUri(url) ? '' : ` src="${escaped(url)}"`;
      return `<audio${source} controls></audio>${transcript === undefined ? '' : `\n\n${transcript}`}`;
    }
  }
}

function picture(media: MediaRef, words: string): string {
  const { url, width, height, source } = media;
  if (width === undefined || height === undefined) return mediaLink({ ...media, alt: words });
  const attributes = {
    href: url,
    'data-src': url,
    'data-width': String(width),
    'data-height': String(height),
    ...(source === undefined ? {} : { 'data-source': source }),
  };
  const list = Object.entries(attributes).map(([name, value]) => `${name}="${escaped(value)}"`);
  const thumbnail = url.replace(/^\/media\//, '/thumbnail/');
  return `<a ${list.join(' ')}><img src="${escaped(thumbnail)}" alt="${escaped(words)}"></a>`;
}

/** Text as the value of an attribute; line ends would end the HTML block in markdown. */
function escaped(text: string): string {
  return text
    .replace(/\s+/g, ' ')
    .replace(/&/g, '&amp;')
    .replace(/"/g, '&quot;')
    .replace(/</g, '&lt;')
    .replace(/>/g, '&gt;');
}
