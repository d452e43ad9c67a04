import { choiceOf } from '../../actions/chats.ts';
import { copy } from '../../components/copy.ts';
import { IconButton } from '../../components/IconButton.tsx';
import { ProvidersLink } from '../../components/ProvidersLink.tsx';
import { t } from '../../i18n/index.ts';
import { hasNone } from '../../state/catalog.ts';
import { useApp } from '../../state/use.ts';
import { CatalogProblem } from './CatalogProblem.tsx';

/** What there is before the first message. */
export function Welcome() {
  return (
    <section class="welcome" aria-labelledby="welcome-title">
      <h1 id="welcome-title">{t('welcome.title')}</h1>
      <CatalogProblem />
      <div class="welcome-more">
        <Providers />
        <FromCode />
      </div>
    </section>
  );
}

function Providers() {
  const catalog = useApp((state) => state.catalog);
  // Dozens more wait for a key; what is on is what counts here.
  const active = catalog.providers.filter(({ name, active_by_default: isOn }) => isOn || catalog.models[name]?.length);
  return (
    <details class="card">
      <summary>{t('welcome.providers')}</summary>
      <ul id="providers" class="providers">
        {active.map(({ name, label }) => (
          <li key={name}>
            <strong>{label}</strong>
            {catalog.models[name]?.length === 0 ? (
              <a href="#/settings/providers">{t('welcome.noneListed')}</a>
            ) : (
              <span>{t('welcome.models', { count: catalog.models[name]?.length ?? 0 })}</span>
            )}
          </li>
        ))}
      </ul>
      {active.some(({ name }) => name === 'embedded') && <p class="hint">{t('welcome.demo')}</p>}
      <p class="hint">{t('welcome.addModels')}</p>
      <pre>
        <code>OPENAI_API_KEY=sk-… npm start</code>
      </pre>
      {/* Without any model it stands above already. */}
      {!hasNone(catalog) && (
        <p>
          <ProvidersLink />
        </p>
      )}
    </details>
  );
}

function FromCode() {
  useApp((state) => state.catalog);
  useApp((state) => state.settings.choice);
  const { model } = choiceOf(undefined);
  const base = `${location.origin}/v1`;
  const body = JSON.stringify({
    ...(model === '' ? {} : { model }),
    messages: [{ role: 'user', content: 'Hello!' }],
  });
  const curl = `curl ${base}/chat/completions \\\n  -H "Content-Type: application/json" \\\n  -d '${body}'`;
  return (
    <details class="card">
      <summary>{t('welcome.code')}</summary>
      <p>{t('welcome.codeHint')}</p>
      <p class="address">
        <code id="base-url">{base}</code>
        <IconButton icon="copy" label={t('welcome.copyAddress')} onClick={() => void copy(base)} />
      </p>
      <div class="address">
        <pre>
          <code id="curl">{curl}</code>
        </pre>
        <IconButton icon="copy" label={t('welcome.copyCommand')} onClick={() => void copy(curl)} />
      </div>
      <p>
        <a href="/docs/">{t('shell.api')}</a>
      </p>
    </details>
  );
}
