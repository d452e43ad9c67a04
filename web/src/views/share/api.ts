import { BACKEND, deleteAt, isAbort, postJson, RequestError } from '../../api/http.ts';
import type { SharedBody } from './shared-chat.ts';

/** Puts a version of a chat where everybody with the link can read it. */
export async function publish(body: SharedBody): Promise<void> {
  await postJson(`${BACKEND}/chat/${encodeURIComponent(body.share)}`, body);
}

/** Takes a shared chat back. */
export function unpublish(share: string): Promise<void> {
  return deleteAt(`${BACKEND}/files/${encodeURIComponent(share)}`);
}

/** new: another one than the `tag` was of; same: that one; gone: it is not shared, or no longer. */
export type Version =
  | { readonly kind: 'new'; readonly body: unknown; readonly tag: string }
  | { readonly kind: 'same' }
  | { readonly kind: 'gone' };

/** The present version of a shared chat, unless it is the one with `tag`. */
export async function readVersion(share: string, tag: string | undefined, signal: AbortSignal): Promise<Version> {
  const address = `${BACKEND}/chat/${encodeURIComponent(share)}?now=${Math.floor(Date.now() / 1_000)}`;
  const headers = tag === undefined ? {} : { 'if-none-match': tag };
  const response = await fetch(address, { headers, cache: 'no-store', signal }).catch((error: unknown) => {
    if (isAbort(error)) throw error;
    throw new RequestError({ message: '', code: 'unreachable' });
  });
  if (response.status === 304) return { kind: 'same' };
  if (!response.ok) {
    // Read, though nobody wants it: else it would stay on its way.
    await response.text().catch(() => undefined);
    if (response.status === 404 || response.status === 400) return { kind: 'gone' };
    throw new RequestError({ message: '', status: response.status });
  }
  return { kind: 'new', body: await response.json(), tag: (response.headers.get('etag') ?? '').replace(/^W\//, '') };
}
