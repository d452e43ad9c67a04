import { useState } from 'preact/hooks';
import { refreshCatalog } from '../../actions/catalog.ts';
import { uploadCookies } from '../../api/cookies.ts';
import { toFailure } from '../../api/http.ts';
import { DropArea } from '../../components/DropArea.tsx';
import { t } from '../../i18n/index.ts';
import { useApp } from '../../state/use.ts';
import { reasonOf } from '../chat/advice.ts';
import { statusOf } from './provider-status.ts';

interface Result {
  readonly isGood: boolean;
  readonly text: string;
}

/** Hands the cookies of a browser to the providers that know people by them. */
export function CookiesSection() {
  const catalog = useApp((state) => state.catalog);
  const [results, setResults] = useState<readonly Result[]>([]);
  const [sending, setSending] = useState<string>();
  const wanting = catalog.providers.filter((provider) => provider.cookie_domain !== null);

  const take = async (files: readonly File[]): Promise<void> => {
    setResults([]);
    for (const file of files) {
      const { name } = file;
      setSending(name);
      try {
        const result = await uploadCookies(file);
        setResults((before) => [...before, { isGood: true, text: t('settings.cookiesSent', { name, result }) }]);
      } catch (thrown) {
        const reason = reasonOf(toFailure(thrown));
        setResults((before) => [...before, { isGood: false, text: t('settings.cookiesFailed', { name, reason }) }]);
      }
    }
    setSending(undefined);
    if (files.length > 0) void refreshCatalog();
  };
  return (
    <>
      <p class="hint">{t('settings.cookiesHint')}</p>
      {catalog.status === 'ready' && wanting.length === 0 && <p>{t('settings.cookiesNone')}</p>}
      {wanting.length > 0 && (
        <ul class="rows">
          {wanting.map((provider) => {
            const { isReady, text } = statusOf(provider, false);
            return (
              <li key={provider.name} class="row">
                <div class="row-words">
                  <strong>{provider.label}</strong>
                  <span class={`row-status ${isReady ? 'is-good' : ''}`}>{text}</span>
                </div>
              </li>
            );
          })}
        </ul>
      )}
      <DropArea
        id="cookie-file"
        label={t('settings.uploadCookies')}
        choose={t('settings.cookiesChoose')}
        hint={t('settings.cookiesDrop')}
        accept=".json,.har"
        isBusy={sending !== undefined}
        take={(files) => void take(files)}
      />
      <div role="status" class="results">
        {sending !== undefined && <p>{t('settings.cookiesSending', { name: sending })}</p>}
        {results.map(({ isGood, text }) => (
          <p key={text} class={isGood ? 'good' : 'problem'}>
            {text}
          </p>
        ))}
      </div>
    </>
  );
}
