import { SluiceError } from '../core/errors.ts';
import { type MediaType, mediaTypeOf } from '../core/media-types.ts';
import type { Files } from '../core/stores.ts';
import { type MediaIndex, type MediaPlace, type MediaQuery, searchTerms } from './media-index.ts';
import { mediaPath } from './names.ts';

interface MediaSearchOptions {
  /** How many terms must fit, 1 to all of them; default: all. */
  readonly min?: number;
  readonly skip?: number;
  readonly random?: MediaQuery['random'];
}

interface MediaListOptions {
  /** Terms as for a search, all of which must fit; empty: everything. */
  readonly text?: string;
  readonly kind?: MediaType['kind'];
  /** The `next` of the page before. */
  readonly before?: string;
  readonly limit: number;
}

/** A stored file in a list. */
export interface ListedMedia extends MediaType {
  readonly name: string;
  readonly size: number;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
}

interface MediaList {
  /** The newest first. */
  readonly media: readonly ListedMedia[];
  /** Where the next page begins; absent when there is nothing behind this one. */
  readonly next?: string;
}

/** Finds kept files. */
export interface MediaFinder {
  /** The name of a stored file that fits all, or `min`, of the terms in `text`. Throws when `min` makes no sense. */
  search(text: string, options?: MediaSearchOptions): Promise<string | undefined>;
  /** A page of what fits. Throws when `before` is no place in a list. */
  list(options: MediaListOptions): Promise<MediaList>;
}

/** Finds by the index, and takes out of it what somebody took away behind our back. */
export function mediaFinder(files: Files, index: () => Promise<MediaIndex>): MediaFinder {
  return {
    async search(text, { min, skip = 0, random } = {}) {
      const terms = searchTerms(text);
      if (min !== undefined && (!Number.isInteger(min) || min < 1 || min > terms.length)) {
        throw new SluiceError('invalid_request', `'min' is a number from 1 to ${terms.length}, the number of terms.`, {
          param: 'min',
        });
      }
      const names = await index();
      const query = { terms, min: min ?? terms.length, skip, ...(random === undefined ? {} : { random }) };
      for (;;) {
        const name = names.find(query);
        if (name === undefined || (await files.stat(mediaPath(name))) !== undefined) return name;
        names.delete(name); // somebody took it away behind our back
      }
    },
    async list({ text = '', kind, before, limit }) {
      const names = await index();
      const media: ListedMedia[] = [];
      let after = before === undefined ? undefined : parsePlace(before);
      // What somebody took away behind our back makes room for more.
      for (;;) {
        const wanted = limit - media.length;
        const query = { terms: searchTerms(text), limit: wanted + 1 };
        const found = names.page({ ...query, ...(kind && { kind }), ...(after && { after }) });
        const shown = found.slice(0, wanted);
        const infos = await Promise.all(shown.map(({ name }) => files.stat(mediaPath(name))));
        shown.forEach(({ name, seconds }, at) => {
          const info = infos[at];
          const type = mediaTypeOf(name);
          if (info === undefined || type === undefined) names.delete(name);
          else media.push({ ...type, name, size: info.size, createdAt: seconds * 1_000 });
        });
        after = shown.at(-1) ?? after;
        if (found.length <= wanted) return { media };
        if (media.length === limit && after !== undefined) return { media, next: `${after.seconds}/${after.name}` };
      }
    },
  };
}

function parsePlace(text: string): MediaPlace {
  const [, seconds, name] = /^(\d{1,12})\/(.+)$/.exec(text) ?? [];
  if (seconds !== undefined && name !== undefined) return { seconds: Number(seconds), name };
  throw new SluiceError('invalid_request', "'before' must be the 'next' of the page before.", { param: 'before' });
}
