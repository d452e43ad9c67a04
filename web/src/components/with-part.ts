import { t } from '../i18n/index.ts';
import { toast } from './toast.ts';

/** Loads a part of the page that is nothing to look at, and hands it to `use`. That it does not come is said as of other parts. */
export function withPart<Part>(load: () => Promise<Part>, use: (part: Part) => void): void {
  void load().then(use, () => toast(t('shell.partMissing')));
}
