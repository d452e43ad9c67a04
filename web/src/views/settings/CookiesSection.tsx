import { useRef, useState } from 'preact/hooks';
import { refreshCatalog } from '../../actions/catalog.ts';
import { uploadCookies } from '../../api/cookies.ts';
import { toFailure } from '../../api/http.ts';
import { Icon } from '../../components/Icon.tsx';
import { t } from '../../i18n/index.ts';
import { useApp } from '../../state/use.ts';
import { adviceFor } from '../chat/advice.ts';
import { statusOf } from './provider-status.ts';

interface Result {
  readonly isGood: boolean;
  readonly text: string;
}

/** Hands the cookies of a browser to the providers that know people by them. */
export function CookiesSection() {
  const catalog = useApp((state) => state.catalog);
  const field = useRef<HTMLInputElement>(null);
  const [results, setResults] = useState<readonly Result[]>([]);
  const [sending, setSending] = useState<string>();
  const [isOver, setOver] = useState(false);
  const wanting = catalog.providers.filter((provider) => provider.cookie_domain !== null);

  const take = async (files: FileList | null | undefined): Promise<void> => {
    const all = [...(files ?? [])];
    setResults([]);
    for (const file of all) {
      const { name } = file;
      setSending(name);
      try {
        const result = await uploadCookies(file);
        setResults((before) => [...before, { isGood: true, text: t('settings.cookiesSent', { name, result }) }]);
      } catch (thrown) {
        const failure = toFailure(thrown);
        const reason = failure.message || t(adviceFor(failure));
        setResults((before) => [...before, { isGood: false, text: t('settings.cookiesFailed', { name, reason }) }]);
      }
    }
    setSending(undefined);
    if (all.length > 0) void refreshCatalog();
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
      <section
        aria-label={t('settings.uploadCookies')}
        class={`drop-area ${isOver ? 'is-over' : ''}`}
        onDragOver={(event) => {
          event.preventDefault();
          setOver(true);
        }}
        onDragLeave={() => setOver(false)}
        onDrop={(event) => {
          event.preventDefault();
          setOver(false);
          void take(event.dataTransfer?.files);
        }}
      >
        <button
          type="button"
          class="button is-primary"
          disabled={sending !== undefined}
          onClick={() => field.current?.click()}
        >
          <Icon name="upload" /> {t('settings.cookiesChoose')}
        </button>
        <span class="hint">{t('settings.cookiesDrop')}</span>
        <input
          ref={field}
          id="cookie-file"
          class="hidden"
          type="file"
          accept=".json,.har,.txt"
          tabIndex={-1}
          aria-label={t('settings.cookiesChoose')}
          onChange={(event) => {
            void take(event.currentTarget.files);
            event.currentTarget.value = '';
          }}
        />
      </section>
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
