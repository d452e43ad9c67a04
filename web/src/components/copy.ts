import { t } from '../i18n/index.ts';
import { toast } from './toast.ts';

/** Puts text on the clipboard and says so. Plain http addresses have no clipboard but the old one. */
export async function copy(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const field = document.createElement('textarea');
    field.value = text;
    document.body.append(field);
    field.select();
    document.execCommand('copy');
    field.remove();
  }
  toast(t('shell.copied'));
}
