import type { MediaPart, Part } from './chat.ts';

const ID = /^file-[0-9a-f]{48}$/;
const ADDRESS =
  /^(?:https?:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?)?\/v1\/files\/(file-[0-9a-f]{48})\/content(?:[?#].*)?$/;

/** Whether it is the id of a file that was sent here. Ids of files elsewhere look different. */
export function isUploadId(id: unknown): id is string {
  return typeof id === 'string' && ID.test(id);
}

/** The id of the file that the Gemini API knows by this name: without `file-`, since its libraries know no dash in it. */
export function uploadIdOf(name: string): string {
  return `file-${name}`;
}

/**
 * The id of the file that a `fileUri` of the Gemini API is of, whatever the host by which the client has reached us.
 * Google's own names are shorter (https://ai.google.dev/api/files#File).
 */
export function uploadOfUri(uri: string): string | undefined {
  const name = /(?:^|\/)files\/([0-9a-f]{48})$/.exec(uri)?.[1];
  return name === undefined ? undefined : uploadIdOf(name);
}

/** Where the bytes of a file are, without the server's own address: a part of a message refers to the file by it. */
export function uploadAddress(id: string): string {
  return `/v1/files/${id}/content`;
}

/** The id of the file that an address of ours is of. */
export function uploadIn(url: string): string | undefined {
  return ADDRESS.exec(url)?.[1];
}

/** Whether a part of a message refers to a file that was sent here. */
export function isUpload(part: Part): part is MediaPart {
  return part.type === 'media' && uploadIn(part.url) !== undefined;
}
