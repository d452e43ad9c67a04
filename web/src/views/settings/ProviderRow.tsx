import { useEffect, useState } from 'preact/hooks';
import { askModels, refreshCatalog, saveKey } from '../../actions/catalog.ts';
import { loadQuota } from '../../api/catalog.ts';
import { toFailure } from '../../api/http.ts';
import { Icon } from '../../components/Icon.tsx';
import { IconButton } from '../../components/IconButton.tsx';
import { toast } from '../../components/toast.ts';
import { t } from '../../i18n/index.ts';
import { app } from '../../state/app.ts';
import type { ProviderEntry } from '../../state/catalog.ts';
import { addressOf } from '../../state/route.ts';
import { useApp } from '../../state/use.ts';
import { adviceOf, reasonOf } from '../chat/advice.ts';
import { statusOf } from './provider-status.ts';

interface Outcome {
  readonly isGood: boolean;
  readonly text: string;
  /** In the provider's own form. */
  readonly told?: string;
}

/** A provider: what it needs, where that is, and the person's own key for it. */
export function ProviderRow({ provider }: { readonly provider: ProviderEntry }) {
  const { name, label } = provider;
  const key = useApp((state) => state.settings.keys[name]);
  const count = useApp((state) => state.catalog.models[name]?.length ?? 0);
  const isLoaded = useApp((state) => state.catalog.status === 'ready');
  const [last, setLast] = useState<Outcome & { readonly key: string | undefined }>();
  // Of another key it says nothing.
  const outcome = last?.key === key ? last : undefined;
  const [isTesting, setTesting] = useState(false);
  const { isReady, text } = statusOf(provider, key !== undefined);

  /** Asks the provider for something, and shows what came of it. */
  const show = async (ask: () => Promise<Outcome>, problem: (reason: string) => string): Promise<void> => {
    setTesting(true);
    setLast(undefined);
    try {
      setLast({ ...(await ask()), key });
    } catch (thrown) {
      const failure = toFailure(thrown);
      const text = problem(reasonOf(failure));
      // There is no button for it here.
      const isKeyless = adviceOf(failure, provider) === 'errors.keyless';
      setLast({ isGood: false, text: isKeyless ? `${text} ${t('errors.keyless')}` : text, key });
    } finally {
      setTesting(false);
    }
  };
  const test = (): Promise<void> =>
    show(
      async () => {
        const models = await askModels(name, key);
        return { isGood: true, text: t('settings.testGood', { count: models.length }) };
      },
      (reason) => t(key === undefined ? 'settings.noModels' : 'settings.testBad', { reason }),
    );
  const showQuota = (): Promise<void> =>
    show(
      async () => {
        const told = JSON.stringify(await loadQuota(name, key), null, 2);
        return { isGood: true, text: t('settings.quota'), told };
      },
      (reason) => reason,
    );
  // Ready, and yet nothing to choose: the provider says why, or does not answer.
  const isMute = isReady && isLoaded && count === 0 && key === undefined;
  useEffect(() => {
    if (isMute) void test();
  }, [isMute]);
  const forget = (): void => {
    if (key === undefined) return;
    void saveKey(name, '');
    const undo = (): void => {
      app.dispatch({ type: 'settings/key', provider: name, key });
      void refreshCatalog();
    };
    toast(t('shell.keyForgotten', { provider: label }), { undo });
  };
  return (
    <li class="row" data-provider={name}>
      <div class="row-words">
        <strong>{label}</strong>
        <span class={`row-status ${isReady && outcome?.isGood !== false ? 'is-good' : ''}`}>
          {text}
          {isReady && count > 0 && ` · ${t('settings.models', { count })}`}
        </span>
        <span role="status" class={outcome === undefined || outcome.isGood ? 'row-outcome' : 'row-outcome problem'}>
          {isTesting ? t('settings.testing', { provider: label }) : outcome?.text}
        </span>
        {outcome?.told !== undefined && (
          // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, by keyboard too
          <pre class="row-told" tabIndex={0}>
            {outcome.told}
          </pre>
        )}
      </div>
      <div class="row-actions">
        {isReady && provider.quota && (
          <button
            type="button"
            class="button"
            disabled={isTesting}
            aria-label={t('shell.about', { name: t('settings.quota'), about: label })}
            onClick={() => void showQuota()}
          >
            {t('settings.quota')}
          </button>
        )}
        {isReady && (
          <button
            type="button"
            class="button"
            disabled={isTesting}
            aria-label={t('shell.about', { name: t('settings.test'), about: label })}
            onClick={() => void test()}
          >
            {t('settings.test')}
          </button>
        )}
        {key !== undefined && (
          <IconButton icon="trash" label={t('settings.forgetKeyFor', { provider: label })} onClick={forget} />
        )}
        {provider.cookie_domain !== null && (
          <a class="button" href={addressOf('settings', 'cookies')}>
            <Icon name="upload" /> {t('settings.cookies')}
          </a>
        )}
        {provider.auth && provider.cookie_domain === null && (
          <button
            type="button"
            // With a key the row stands in another list, and the focus comes back to this button there.
            id={`key-of-${name}`}
            class="button"
            // What is to be seen comes first, for those who say it to press it.
            aria-label={t('shell.about', {
              name: t(key === undefined ? 'settings.enterKey' : 'settings.changeKey'),
              about: label,
            })}
            onClick={() => app.dispatch({ type: 'overlay/opened', name: 'key', about: name })}
          >
            <Icon name="key" /> {t(key === undefined ? 'settings.enterKey' : 'settings.changeKey')}
          </button>
        )}
      </div>
    </li>
  );
}
