import { t } from '../i18n/index.ts';
import { toast } from './toast.ts';

/** How many files are taken out of folders at once. A folder may hold a hundred thousand, and be dropped by mistake. */
const MOST = 50;

/** The files of a drop, of a paste or of a field, as a list that stays: the field's own is emptied with it. */
export function filesOf(source: { readonly files: FileList | null } | null | undefined): readonly File[] {
  return [...(source?.files ?? [])];
}

/** Gives `take` the files of a drop, of folders those within. */
export function takeDropped(data: DataTransfer | null, take: (files: readonly File[]) => void): void {
  const files = filesOf(data);
  // Now: after the event there are none.
  const entries = [...(data?.items ?? [])].map((item) => item.webkitGetAsEntry()).filter((entry) => entry !== null);
  const takeAll = (found: readonly File[]): void => {
    if (found.length > MOST) toast(t('composer.manyFiles', { count: MOST }));
    else take(found);
  };
  if (entries.some(isFolder)) filesIn(entries, MOST + 1).then(takeAll, () => toast(t('composer.failed')));
  else take(files);
}

async function filesIn(entries: readonly FileSystemEntry[], most: number): Promise<File[]> {
  const files: File[] = [];
  for (const entry of entries) {
    if (files.length >= most) break;
    if (isFolder(entry)) files.push(...(await filesIn(await shownIn(entry), most - files.length)));
    else files.push(await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject)));
  }
  return files;
}

/** What is in a folder, without what file managers hide. */
async function shownIn(folder: FileSystemDirectoryEntry): Promise<readonly FileSystemEntry[]> {
  const reader = folder.createReader();
  const entries: FileSystemEntry[] = [];
  for (;;) {
    // It gives some at a time, and none at the end.
    const more = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (more.length === 0) return entries.filter(({ name }) => !name.startsWith('.'));
    entries.push(...more);
  }
}

function isFolder(entry: FileSystemEntry): entry is FileSystemDirectoryEntry {
  return entry.isDirectory;
}
