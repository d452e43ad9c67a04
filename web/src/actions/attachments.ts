import { convert, deleteBucket, thumbnailUrl, upload } from '../api/files.ts';
import { isAbort, toFailure } from '../api/http.ts';
import { smaller } from '../components/picture.ts';
import { toast } from '../components/toast.ts';
import { t } from '../i18n/index.ts';
import { app } from '../state/app.ts';
import { type Attachment, emptyDraft } from '../state/drafts.ts';
import { ATTACHED, type AttachedFile } from '../state/media.ts';
import { type Failure, type FilePart, newId, type Part } from '../state/model.ts';
import { putRecords, removeRecords } from '../storage/records.ts';
import { reasonOf } from '../views/chat/advice.ts';

/** How to stop what is on its way, by attachment. */
const leaving = new Map<string, AbortController>();

/** Sends files to the server, each into a bucket of its own, and adds them to a draft. */
export function addFiles(draft: string, files: readonly File[]): void {
  for (const file of files) void take(draft, file);
}

async function take(draft: string, file: File): Promise<void> {
  const id = newId();
  const { name, size, type: mimeType } = file;
  const attachment: Attachment = { id, name, size, mimeType, phase: 'uploading' };
  app.dispatch({ type: 'drafts/attached', chat: draft, attachment });
  await send(draft, id, file);
}

/** Sends a file once more that failed to get to the server. */
export function resend(draft: string, { id, file }: Attachment): void {
  if (file === undefined) return;
  // Into another bucket: nobody knows how far the one before has come.
  const next = newId();
  const change: Partial<Attachment> = {
    id: next,
    phase: 'uploading',
    progress: 0,
    problem: undefined,
    file: undefined,
  };
  app.dispatch({ type: 'drafts/attachment', chat: draft, id, change });
  removeFromServer(id);
  void send(draft, next, file);
}

async function send(draft: string, id: string, file: File): Promise<void> {
  const { name, size } = file;
  const kind = kindOf(file.type);
  const set = (change: Partial<Attachment>): void =>
    app.dispatch({ type: 'drafts/attachment', chat: draft, id, change });
  const fail = (problem: string, again?: File): void =>
    set({ phase: 'failed', problem, file: again, preview: undefined });
  const stop = new AbortController();
  leaving.set(id, stop);
  const preview = kind === 'image' ? URL.createObjectURL(file) : undefined;
  set({ preview });
  try {
    const sent = kind === 'image' ? await smaller(file) : file;
    const done = await upload(id, sent, (progress) => set({ progress }), stop.signal);
    stop.signal.throwIfAborted();
    const [rejected] = done.rejected;
    const [media] = done.media;
    // Of an archive some may be taken in, and some not.
    if (rejected !== undefined && done.files.length + done.media.length === 0) fail(rejected.reason);
    else if (media !== undefined) {
      const part: FilePart = { type: 'file', bucketId: id, name, media: media.name, kind, size: sent.size };
      note({ id, name, type: kind, media: media.name, size: sent.size, created: Date.now() });
      set({ phase: 'ready', part, preview: kind === 'image' ? thumbnailUrl(id, media.name) : undefined });
    } else {
      set({ phase: 'converting' });
      note({ id, name, type: 'document', size, created: Date.now() });
      const textSize = await convert(id, (bytes) => set({ textSize: bytes }), stop.signal);
      if (textSize === 0) fail(t('composer.noText'));
      else
        set({
          phase: 'ready',
          textSize,
          part: { type: 'file', bucketId: id, name, kind: 'document', size: textSize },
          preview: undefined,
        });
    }
  } catch (thrown) {
    if (isAbort(thrown)) removeFromServer(id);
    else {
      const failure = toFailure(thrown);
      fail(reasonOf(failure), mayPass(failure) ? file : undefined);
    }
  } finally {
    if (preview !== undefined) URL.revokeObjectURL(preview);
    leaving.delete(id);
  }
}

/** Whether the same file may be taken later: it was not reached, or is busy, or lacks a key. What it cannot read stays so. */
function mayPass({ status, code }: Failure): boolean {
  if (status === undefined) return code === 'unreachable';
  return status >= 500 || [401, 403, 408, 429].includes(status);
}

/** So that it can be found, and deleted, later. */
function note(file: AttachedFile): void {
  putRecords(ATTACHED, [file]).catch(() => {});
}

/** Takes a file out of a draft, and off the server: one that is on its way as soon as it is there. */
export function removeAttachment(draft: string, id: string): void {
  const running = leaving.get(id);
  app.dispatch({ type: 'drafts/detached', chat: draft, id });
  if (running === undefined) removeFromServer(id);
  else running.abort();
}

function removeFromServer(id: string): void {
  deleteBucket(id)
    .then(() => removeRecords(ATTACHED, [id]))
    .catch(() => {});
}

/** Says of a file that failed what can be done about it. Returns whether there is one: then a question has to wait. */
export function sayFailed(attachments: readonly Attachment[]): boolean {
  const failed = attachments.find(({ phase }) => phase === 'failed');
  if (failed === undefined) return false;
  toast(t(failed.file === undefined ? 'composer.failedFile' : 'composer.failedAgain', { name: failed.name }));
  return true;
}

/** The draft as the parts of a message; it is empty with that. */
export function takeParts(draft: string): readonly Part[] {
  const { text, attachments } = app.get().drafts[draft] ?? emptyDraft;
  app.dispatch({ type: 'drafts/cleared', chat: draft });
  const files = partsOf(attachments);
  return text.trim() === '' ? files : [...files, { type: 'text', text: text.trim() }];
}

/** The files of a draft that the server has. */
export function partsOf(attachments: readonly Attachment[]): readonly FilePart[] {
  return attachments.flatMap(({ part }) => (part === undefined ? [] : [part]));
}

function kindOf(mimeType: string): FilePart['kind'] {
  const family = mimeType.split('/')[0];
  return family === 'image' || family === 'audio' || family === 'video' ? family : 'document';
}
