import { Dialog } from '../../components/Dialog.tsx';
import { t } from '../../i18n/index.ts';
import type { OverlayProps } from '../props.ts';
import { ShortcutList } from '../shortcuts/ShortcutList.tsx';

/** The help sheet of the keyboard. */
export default function Shortcuts({ close }: OverlayProps) {
  return (
    <Dialog title={t('shell.shortcuts')} onClose={close} class="shortcuts">
      <ShortcutList />
    </Dialog>
  );
}
