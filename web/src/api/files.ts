import { BACKEND, deleteAt, RequestError } from './http.ts';

/** What became of an upload. */
export interface Upload {
  readonly bucket_id: string;
  readonly files: readonly string[];
  readonly media: readonly { readonly name: string; readonly width?: number; readonly height?: number }[];
  readonly rejected: readonly { readonly name: string; readonly reason: string }[];
}

/**
 * Sends one file into a bucket. `onProgress` gets how much has left, 0 to 1, which `fetch` cannot tell. Once all has left, the
 * server has it: then its answer is waited for in any case, for only after that the bucket can be deleted.
 */
export function upload(
  bucket: string,
  file: File,
  onProgress: (share: number) => void,
  signal: AbortSignal,
): Promise<Upload> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    let hasLeft = false;
    const form = new FormData();
    form.append('files', file, file.name);
    const sender = new XMLHttpRequest();
    sender.open('POST', `${BACKEND}/files/${bucket}`);
    sender.responseType = 'json';
    sender.upload.addEventListener('progress', ({ loaded, total }) => onProgress(total > 0 ? loaded / total : 0));
    sender.upload.addEventListener('load', () => {
      hasLeft = true;
    });
    sender.addEventListener('load', () => {
      const body = sender.response as (Upload & { error?: { message?: string; code?: string } }) | null;
      if (sender.status === 200 && body !== null) return resolve(body);
      const { message = '', code } = body?.error ?? {};
      reject(new RequestError({ message, status: sender.status, ...(code === undefined ? {} : { code }) }));
    });
    sender.addEventListener('error', () => reject(new RequestError({ message: '', code: 'unreachable' })));
    sender.addEventListener('abort', () => reject(new DOMException('stopped', 'AbortError')));
    signal.addEventListener('abort', () => {
      if (!hasLeft) sender.abort();
    });
    sender.send(form);
  });
}

/** Follows the conversion of a bucket; resolves with the bytes of its text. */
export function convert(bucket: string, onSize: (bytes: number) => void, signal: AbortSignal): Promise<number> {
  return new Promise((resolve, reject) => {
    const source = new EventSource(`${BACKEND}/files/${bucket}/stream`);
    const end = (): void => source.close();
    signal.addEventListener('abort', () => {
      end();
      reject(new DOMException('stopped', 'AbortError'));
    });
    source.addEventListener('message', ({ data }) => {
      const event = JSON.parse(String(data)) as { action?: string; size?: number; error?: { message?: string } };
      if (event.error !== undefined) {
        end();
        reject(new RequestError({ message: event.error.message ?? '', code: 'conversion' }));
      } else if (event.action === 'done') {
        end();
        resolve(event.size ?? 0);
      } else if (event.size !== undefined) onSize(event.size);
    });
    source.addEventListener('error', () => {
      end();
      reject(new RequestError({ message: '', code: 'unreachable' }));
    });
  });
}

/** With all that is in it. Throws RequestError, but not where there is no such bucket any more. */
export function deleteBucket(bucket: string): Promise<void> {
  return deleteAt(`${BACKEND}/files/${bucket}`);
}

/** Where the server has a file of a bucket that is media. */
export function mediaUrl(bucket: string, name: string): string {
  return `/files/${bucket}/media/${encodeURIComponent(name)}`;
}

/** Where it has a small picture of one. */
export function thumbnailUrl(bucket: string, name: string): string {
  return `/files/${bucket}/thumbnail/${encodeURIComponent(name)}`;
}
