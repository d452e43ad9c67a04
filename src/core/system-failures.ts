const FORBIDDEN =
  'Sluice has no permission to use its data folder: give it to the account that Sluice runs under, or choose another one with --data-dir.';

/** Failures of the file system that are the world's fault, in sentences that a client may see. */
const SENTENCES: ReadonlyMap<string, string> = new Map([
  ['EACCES', FORBIDDEN],
  ['EPERM', FORBIDDEN],
  ['EROFS', 'The data folder cannot be written.'],
  ['ENOSPC', 'The disk is full.'],
  ['EDQUOT', 'The disk is full.'],
  ['EFBIG', 'The disk is full.'],
  ['ENOTDIR', 'The data folder is no folder.'],
  ['EEXIST', 'The data folder is no folder.'],
  ['EISDIR', 'The data folder holds a folder where a file belongs.'],
  ['ELOOP', 'The data folder holds a symbolic link.'],
  ['ENOENT', 'The data folder is gone, or cannot be made.'],
  ['EIO', 'The disk reports an error.'],
  // Folders of other machines, and disks that were pulled out.
  ['ESTALE', 'The disk reports an error.'],
  ['ETIMEDOUT', 'The disk reports an error.'],
  ['ENODEV', 'The disk reports an error.'],
  ['ENXIO', 'The disk reports an error.'],
  ['EMFILE', 'Too many files are open.'],
  ['ENFILE', 'Too many files are open.'],
]);

/** Undefined: not a failure of the file system. */
export function systemSentence(error: unknown): string | undefined {
  return SENTENCES.get(systemCode(error) ?? '');
}

/** Node's name of a system error, for example `ENOENT`. */
export function systemCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
