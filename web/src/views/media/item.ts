import { deleteBucket, mediaUrl, thumbnailUrl } from '../../api/files.ts';
import type { KeptMedia } from '../../api/media.ts';
import { deleteMedia } from '../../api/media.ts';
import { ATTACHED, type AttachedFile, readName } from '../../state/media.ts';
import { removeRecords } from '../../storage/records.ts';

/** Something in the gallery, wherever it is kept. */
export interface Item {
  readonly id: string;
  readonly kind: 'image' | 'audio' | 'video' | 'document';
  readonly title: string;
  /** The model, for example. */
  readonly about: string;
  readonly url: string;
  /** A small picture of it. */
  readonly thumbnail?: string;
  /** Bytes. */
  readonly size: number;
  /** Milliseconds. */
  readonly created: number;
  readonly remove: () => Promise<void>;
}

/** Something kept of an answer; `remove` deletes it on the server. */
export function itemOfMedia({ name, kind, url, thumbnail, size, created_at: created }: KeptMedia): Item {
  return {
    id: name,
    kind,
    ...readName(name),
    url,
    ...(thumbnail === null ? {} : { thumbnail }),
    size,
    created: Date.parse(created),
    remove: () => deleteMedia(name),
  };
}

/** A file that went with a question; `remove` deletes its bucket, and what this browser remembers of it. */
export function itemOfFile({ id, name, type: kind, media, size, created }: AttachedFile): Item {
  const url = media === undefined ? `/backend-api/v2/files/${id}` : mediaUrl(id, media);
  const hasPicture = kind === 'image' && media !== undefined;
  return {
    id,
    kind,
    title: name,
    about: '',
    url,
    ...(hasPicture ? { thumbnail: thumbnailUrl(id, media) } : {}),
    size,
    created,
    remove: async () => {
      await deleteBucket(id);
      await removeRecords(ATTACHED, [id]);
    },
  };
}
