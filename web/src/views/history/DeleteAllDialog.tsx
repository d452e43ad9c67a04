import { useState } from 'preact/hooks';
import { Dialog } from '../../components/Dialog.tsx';
import { Icon } from '../../components/Icon.tsx';
import { toast } from '../../components/toast.ts';
import { t } from '../../i18n/index.ts';
import type { OverlayProps } from '../props.ts';
import { exportAs } from './chat-menu.ts';
import { deleteAllChats } from './delete-all.ts';

/** Asks before everything goes, since that cannot be taken back, and offers to keep a copy. */
export default function DeleteAllDialog({ close }: OverlayProps) {
  const [isBusy, setBusy] = useState(false);
  const remove = async (): Promise<void> => {
    setBusy(true);
    await deleteAllChats();
    toast(t('history.deletedAll'));
    close();
  };
  return (
    <Dialog title={t('history.deleteAll')} onClose={close}>
      <p>{t('history.deleteAllSure')}</p>
      <div class="row-end">
        <button type="button" class="button is-quiet" onClick={close}>
          {t('shell.cancel')}
        </button>
        <button type="button" class="button" disabled={isBusy} onClick={() => exportAs('all', 'json')}>
          <Icon name="download" /> {t('transfer.exportAllJson')}
        </button>
        <button type="button" class="button is-danger" disabled={isBusy} onClick={() => void remove()}>
          <Icon name="trash" /> {t('history.deleteAll')}
        </button>
      </div>
    </Dialog>
  );
}
