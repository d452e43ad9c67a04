import { BACKEND, deleteAt, getJson } from './http.ts';

/** Kinds of what answers bring along, as the server tells them apart. */
export type MediaKind = 'image' | 'audio' | 'video';

/** Something that the server keeps of an answer. */
export interface KeptMedia {
  readonly name: string;
  readonly kind: MediaKind;
  readonly mime_type: string;
  /** Bytes. */
  readonly size: number;
  readonly url: string;
  readonly thumbnail: string | null;
  readonly created_at: string;
}

interface MediaPage {
  readonly media: readonly KeptMedia[];
  readonly next: string | null;
}

interface MediaQuery {
  readonly search: string;
  readonly kind?: MediaKind;
  /** The `next` of the page before. */
  readonly before?: string;
}

/** The newest first. */
export function listMedia({ search, kind, before }: MediaQuery, signal: AbortSignal): Promise<MediaPage> {
  const query = new URLSearchParams();
  if (search.trim() !== '') query.set('search', search.trim());
  if (kind !== undefined) query.set('kind', kind);
  if (before !== undefined) query.set('before', before);
  return getJson(`${BACKEND}/media?${query}`, { signal });
}

/** `name`: that of `KeptMedia`. Throws RequestError, but not where there is no such file any more. */
export function deleteMedia(name: string): Promise<void> {
  return deleteAt(`${BACKEND}/media/${encodeURIComponent(name)}`);
}
