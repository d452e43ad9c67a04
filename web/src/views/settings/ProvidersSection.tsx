import { useMemo, useState } from 'preact/hooks';
import { SearchField } from '../../components/SearchField.tsx';
import { t } from '../../i18n/index.ts';
import type { ProviderEntry } from '../../state/catalog.ts';
import { useApp } from '../../state/use.ts';
import { ProviderRow } from './ProviderRow.tsx';
import { isUntested, statusOf } from './provider-status.ts';

/** All providers that the server knows: which are ready, and what the others want. */
export function ProvidersSection() {
  const { providers, status, own } = useApp((state) => state.catalog);
  const keys = useApp((state) => state.settings.keys);
  const [search, setSearch] = useState('');
  const words = search.trim().toLowerCase();
  const { ready, waiting } = useMemo(() => {
    const fitting = providers.filter(({ name, label }) => `${name} ${label}`.toLowerCase().includes(words));
    const isReady = (each: ProviderEntry): boolean => statusOf(each, keys[each.name] !== undefined).isReady;
    return { ready: fitting.filter(isReady), waiting: fitting.filter((each) => !isReady(each)) };
  }, [providers, keys, words]);
  const untested = ready.filter(({ name }) => isUntested(name, keys, own)).length;
  // All in one list: a row that goes to another when it is tested would lose what came of that.
  const readyTitle = [
    t('settings.providersReady', { count: ready.length - untested }),
    ...(untested === 0 ? [] : [t('settings.providersUntested', { count: untested })]),
  ].join(' · ');
  if (status === 'failed') {
    return (
      <p class="problem" role="alert">
        {t('errors.unreachable')}
      </p>
    );
  }
  return (
    <>
      <p class="hint">{t('settings.providersHint')}</p>
      <SearchField id="provider-search" label={t('settings.providersSearch')} value={search} onInput={setSearch} />
      <p class={status === 'loading' ? 'nothing' : 'hidden'} role="status">
        {status === 'loading' && t('shell.loading')}
        {words !== '' && readyTitle}
      </p>
      {ready.length + waiting.length === 0 && status === 'ready' && (
        <p class="nothing">{t('settings.providersNone')}</p>
      )}
      <List title={readyTitle} providers={ready} />
      <List title={t('settings.providersWaiting', { count: waiting.length })} providers={waiting} />
    </>
  );
}

function List({ title, providers }: { readonly title: string; readonly providers: readonly ProviderEntry[] }) {
  if (providers.length === 0) return null;
  return (
    <section>
      <h3>{title}</h3>
      <ul class="rows">
        {providers.map((provider) => (
          <ProviderRow key={provider.name} provider={provider} />
        ))}
      </ul>
    </section>
  );
}
