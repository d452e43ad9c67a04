import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { saveKey } from '../../actions/catalog.ts';
import { toFailure } from '../../api/http.ts';
import { Dialog } from '../../components/Dialog.tsx';
import { Icon } from '../../components/Icon.tsx';
import { ProblemText } from '../../components/ProblemText.tsx';
import { toast } from '../../components/toast.ts';
import { t } from '../../i18n/index.ts';
import { app } from '../../state/app.ts';
import { reasonOf } from '../chat/advice.ts';
import type { OverlayProps } from '../props.ts';

/** A provider's key, kept in this browser. `about` is the provider's name. */
export default function KeyDialog({ about, close }: OverlayProps) {
  const { catalog, settings } = app.get();
  const provider = catalog.providers.find(({ name }) => name === about);
  const label = provider?.label ?? about;
  const before = settings.keys[about] ?? '';
  const [key, setKey] = useState(before);
  const [problem, setProblem] = useState('');
  const [isBusy, setBusy] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  // While a key is tried, nothing here can have the focus.
  useLayoutEffect(() => {
    if (problem !== '' && !isBusy) field.current?.focus();
  }, [problem, isBusy]);

  const save = async (event: Event): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    setProblem('');
    try {
      const failure = await saveKey(about, key.trim());
      if (failure !== undefined) toast(t('shell.keyUntested', { provider: label, reason: reasonOf(failure) }));
      else toast(t(key.trim() === '' ? 'shell.keyForgotten' : 'shell.keyKept', { provider: label }));
      close();
    } catch (thrown) {
      setProblem(t('shell.keyRefused', { reason: reasonOf(toFailure(thrown)) }));
    } finally {
      setBusy(false);
    }
  };

  return (
    <Dialog
      title={t('shell.keyTitle', { provider: label })}
      onClose={close}
      class="key-dialog"
      isWritten={key !== before}
    >
      <form onSubmit={(event) => void save(event)}>
        <label class="field">
          <span>{t('shell.key')}</span>
          <input
            ref={field}
            type="password"
            autocomplete="off"
            spellcheck={false}
            value={key}
            disabled={isBusy}
            aria-describedby="key-where"
            onInput={(event) => setKey(event.currentTarget.value)}
          />
        </label>
        <p id="key-where" class="hint">
          {t('shell.keyWhere')}
        </p>
        <ProblemText text={problem} />
        <div class="row-end">
          {provider?.login_url && (
            <a class="button is-quiet" href={provider.login_url} target="_blank" rel="noopener noreferrer">
              {t('shell.getKey', { provider: label })} <Icon name="external" size={14} />
            </a>
          )}
          <button type="submit" class="button is-primary" disabled={isBusy}>
            {t('shell.keep')}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
