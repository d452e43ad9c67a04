import { toast } from '../../components/toast.ts';
import { t } from '../../i18n/index.ts';

/** Lets the person choose a JSON file and hands over what is in it. */
export function pickJson(take: (content: unknown) => Promise<void>): void {
  const field = document.createElement('input');
  field.type = 'file';
  field.accept = '.json,application/json';
  field.addEventListener('change', async () => {
    const [file] = field.files ?? [];
    if (file === undefined) return;
    try {
      await take(JSON.parse(await file.text()));
    } catch {
      toast(t('presets.notRead'));
    }
  });
  field.click();
}
