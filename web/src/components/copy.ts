import { t } from '../i18n/index.ts';
import { toClipboard } from './clipboard.ts';
import { toast } from './toast.ts';

/** Puts text on the clipboard and says so. */
export async function copy(text: string): Promise<void> {
  toast(t((await toClipboard(text)) ? 'shell.copied' : 'shell.notCopied'));
}
