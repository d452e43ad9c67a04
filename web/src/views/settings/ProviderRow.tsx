import { useEffect } from 'preact/hooks';
import { refreshCatalog, saveKey } from '../../actions/catalog.ts';
import { Icon } from '../../components/Icon.tsx';
import { IconButton } from '../../components/IconButton.tsx';
import { toast } from '../../components/toast.ts';
import { t } from '../../i18n/index.ts';
import { app } from '../../state/app.ts';
import type { ProviderEntry } from '../../state/catalog.ts';
import { addressOf } from '../../state/route.ts';
import { useApp } from '../../state/use.ts';
import { isUntested, statusOf } from './provider-status.ts';
import { useAsking } from './use-asking.ts';

/** A provider: what it needs, where that is, and the person's own key for it. */
export function ProviderRow({ provider }: { readonly provider: ProviderEntry }) {
  const { name, label } = provider;
  const key = useApp((state) => state.settings.keys[name]);
  const count = useApp((state) => state.catalog.models[name]?.length ?? 0);
  const isLoaded = useApp((state) => state.catalog.status === 'ready');
  const { outcome, isTesting, test, showQuota } = useAsking(provider, key);
  const isUnsure = useApp(({ settings, catalog }) => isUntested(name, settings.keys, catalog.own));
  const { isReady, text } = statusOf(provider, key !== undefined);
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
        <span class={`row-status ${isReady && !isUnsure && outcome?.isGood !== false ? 'is-good' : ''}`}>
          {isUnsure ? t('settings.statusOwnUntested') : text}
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
          <KeyButton provider={provider} hasKey={key !== undefined} />
        )}
      </div>
    </li>
  );
}

interface KeyButtonProps {
  readonly provider: ProviderEntry;
  readonly hasKey: boolean;
}

function KeyButton({ provider: { name, label }, hasKey }: KeyButtonProps) {
  const text = t(hasKey ? 'settings.changeKey' : 'settings.enterKey');
  return (
    <button
      type="button"
      // With a key the row stands in another list, and the focus comes back to this button there.
      id={`key-of-${name}`}
      class="button"
      // What is to be seen comes first, for those who say it to press it.
      aria-label={t('shell.about', { name: text, about: label })}
      onClick={() => app.dispatch({ type: 'overlay/opened', name: 'key', about: name })}
    >
      <Icon name="key" /> {text}
    </button>
  );
}
