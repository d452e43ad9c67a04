import { useState } from 'preact/hooks';
import { toFailure } from '../../api/http.ts';
import { Icon } from '../../components/Icon.tsx';
import { toast } from '../../components/toast.ts';
import { t } from '../../i18n/index.ts';
import { app } from '../../state/app.ts';
import { reasonOf } from '../chat/advice.ts';
import { exportAs } from '../history/chat-menu.ts';
import { DeleteDialog } from './DeleteDialog.tsx';

/** Everything of the person: taking it along, and deleting it. */
export function DataSection() {
  const [isDeleting, setDeleting] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const exportAll = async (): Promise<void> => {
    setBusy(true);
    try {
      const part = await import('./export-all.ts').catch(() => undefined);
      await part?.exportEverything();
      toast(t(part === undefined ? 'shell.partMissing' : 'settings.exportedAll'));
    } catch (thrown) {
      toast(t('settings.exportFailed', { reason: reasonOf(toFailure(thrown)) }));
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <section>
        <h3>{t('settings.exportTitle')}</h3>
        <p class="hint">{t('settings.exportHint')}</p>
        <div class="settings-buttons">
          <button type="button" class="button" onClick={() => exportAs('all', 'markdown')}>
            <Icon name="download" /> {t('transfer.exportAllMarkdown')}
          </button>
          <button type="button" class="button" onClick={() => exportAs('all', 'json')}>
            <Icon name="download" /> {t('transfer.exportAllJson')}
          </button>
          <button type="button" class="button" onClick={() => app.dispatch({ type: 'overlay/opened', name: 'import' })}>
            <Icon name="upload" /> {t('transfer.import')}
          </button>
        </div>
        <p class="hint">{t('settings.exportAllHint')}</p>
        <div class="settings-buttons">
          <button type="button" class="button" disabled={isBusy} onClick={() => void exportAll()}>
            <Icon name="download" /> {t('settings.exportAll')}
          </button>
        </div>
      </section>
      <section>
        <h3>{t('settings.deleteTitle')}</h3>
        <p class="hint">{t('settings.deleteHint')}</p>
        <div class="settings-buttons">
          <button type="button" class="button is-danger" onClick={() => setDeleting(true)}>
            <Icon name="trash" /> {t('settings.deleteAll')}
          </button>
        </div>
      </section>
      {isDeleting && <DeleteDialog close={() => setDeleting(false)} />}
    </>
  );
}
