import { useState } from 'preact/hooks';
import { toFailure } from '../../api/http.ts';
import { Dialog } from '../../components/Dialog.tsx';
import { ProblemText } from '../../components/ProblemText.tsx';
import { toast } from '../../components/toast.ts';
import type { Key } from '../../i18n/dictionary.ts';
import { t } from '../../i18n/index.ts';
import { reasonOf } from '../chat/advice.ts';
import { type Doomed, deleteEverything } from './delete-all.ts';

const PARTS: readonly (readonly [keyof Doomed, Key])[] = [
  ['browser', 'settings.deleteBrowser'],
  ['server', 'settings.deleteServer'],
  ['media', 'settings.deleteMedia'],
  ['settings', 'settings.deleteSettings'],
];

/** Asks once more what shall be deleted for good. */
export function DeleteDialog({ close }: { readonly close: () => void }) {
  const [doomed, setDoomed] = useState<Doomed>({ browser: true, server: true, media: true, settings: true });
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState('');

  const run = async (): Promise<void> => {
    setBusy(true);
    setProblem('');
    try {
      const { count, failure } = await deleteEverything(doomed);
      if (failure === undefined) {
        close();
        return toast(t('settings.deleted'));
      }
      setProblem(t('settings.deleteFailed', { count, reason: reasonOf(failure) }));
    } catch (thrown) {
      setProblem(toFailure(thrown).message);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Dialog
      title={t('settings.deleteTitle')}
      onClose={close}
      actions={
        <>
          <button type="button" class="button" onClick={close}>
            {t('shell.cancel')}
          </button>
          <button
            type="button"
            class="button is-danger"
            disabled={isBusy || !Object.values(doomed).includes(true)}
            onClick={() => void run()}
          >
            {t(isBusy ? 'settings.deleting' : 'settings.deleteNow')}
          </button>
        </>
      }
    >
      <fieldset class="checks">
        <legend>{t('settings.deleteWhat')}</legend>
        {PARTS.map(([part, label]) => (
          <label key={part}>
            <input
              type="checkbox"
              checked={doomed[part]}
              disabled={isBusy}
              onChange={(event) => setDoomed({ ...doomed, [part]: event.currentTarget.checked })}
            />
            <span>{t(label)}</span>
          </label>
        ))}
      </fieldset>
      <ProblemText text={problem} />
    </Dialog>
  );
}
