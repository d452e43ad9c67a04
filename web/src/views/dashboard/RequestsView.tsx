import { useState } from 'preact/hooks';
import type { LoggedRequest, RequestFilter } from '../../api/observe.ts';
import { Choices } from '../../components/Choices.tsx';
import { Confirm } from '../../components/Confirm.tsx';
import { Problem } from '../../components/Problem.tsx';
import { SearchField } from '../../components/SearchField.tsx';
import { Switch } from '../../components/Switch.tsx';
import { t } from '../../i18n/index.ts';
import { addressOf } from '../../state/route.ts';
import { useApp } from '../../state/use.ts';
import { dollars, milliseconds, moment, short } from './figures.ts';
import { useRequests } from './use-requests.ts';

/** The newest requests to models, of everybody. */
export function RequestsView() {
  const [filter, setFilter] = useState<RequestFilter>({ text: '', provider: '', status: '' });
  const [isLive, setLive] = useState(true);
  const [isAsking, setAsking] = useState(false);
  const { value, failure, again, rows, next, showMore, forget } = useRequests(filter, isLive);
  const isUnknown = failure?.status === 404 || failure?.status === 405;
  if (value?.mode === 'none' || isUnknown) return <p class="nothing">{t('dashboard.logOff')}</p>;
  const isWaiting = value === undefined && failure === undefined;
  const isEmpty = value !== undefined && rows.length === 0;
  return (
    <>
      <div class="dashboard-choices">
        <FilterChoices filter={filter} change={setFilter} />
        <Switch label={t('dashboard.live')} isOn={isLive} onChange={setLive} />
      </div>
      <Problem failure={failure} again={again} />
      <div class="requests-head">
        <p class={isEmpty ? 'nothing' : isWaiting ? 'nothing is-late' : 'hint'} role="status">
          {isWaiting && t('shell.loading')}
          {isEmpty && t('dashboard.noRequests')}
          {value !== undefined && !isEmpty && t('dashboard.count', { count: value.total })}
        </p>
        {rows.length > 0 && (
          <button type="button" class="button is-quiet is-danger" onClick={() => setAsking(true)}>
            {t('dashboard.forget')}
          </button>
        )}
      </div>
      <ul class="rows requests">
        {rows.map((entry) => (
          <Row key={entry.id} entry={entry} />
        ))}
      </ul>
      {next !== null && (
        <button type="button" class="button" onClick={() => void showMore()}>
          {t('history.more')}
        </button>
      )}
      {isAsking && (
        <Confirm
          title={t('dashboard.forget')}
          text={t('dashboard.forgetSure')}
          action={t('shell.delete')}
          onClose={() => setAsking(false)}
          run={forget}
        />
      )}
    </>
  );
}

interface FilterChoicesProps {
  readonly filter: RequestFilter;
  readonly change: (filter: RequestFilter) => void;
}

function FilterChoices({ filter, change }: FilterChoicesProps) {
  const providers = useApp((state) => state.catalog.providers);
  const active = providers.filter(({ active_by_default: isOn }) => isOn);
  return (
    <>
      <SearchField
        id="requests-search"
        label={t('dashboard.searchLog')}
        value={filter.text}
        onInput={(text) => change({ ...filter, text })}
      />
      <Choices
        isPlain
        label={t('dashboard.status')}
        value={filter.status}
        options={[
          ['', t('dashboard.all')],
          ['ok', t('dashboard.ok')],
          ['error', t('dashboard.failed')],
        ]}
        onChange={(status) => change({ ...filter, status })}
      />
      <label class="field">
        <span class="hidden">{t('dashboard.provider')}</span>
        <select
          id="requests-provider"
          value={filter.provider}
          onChange={(event) => change({ ...filter, provider: event.currentTarget.value })}
        >
          <option value="">{t('dashboard.allProviders')}</option>
          {active.map(({ name, label }) => (
            <option key={name} value={name}>
              {label}
            </option>
          ))}
        </select>
      </label>
    </>
  );
}

function Row({ entry }: { readonly entry: LoggedRequest }) {
  const label = useApp(({ catalog }) => catalog.providers.find(({ name }) => name === entry.provider)?.label);
  const isGood = entry.status < 400 && entry.error === null;
  const facts = [
    moment(entry.time),
    label ?? entry.provider ?? '–',
    entry.operation,
    entry.usage === null ? undefined : t('dashboard.countTokens', { tokens: short(entry.usage.total_tokens) }),
    entry.cost === null ? undefined : dollars(entry.cost),
    milliseconds(entry.duration_ms),
    entry.attempts > 1 ? t('dashboard.attempts', { count: entry.attempts }) : undefined,
  ].filter((fact) => fact !== undefined);
  return (
    <li>
      <a class="row request" href={addressOf('dashboard', 'requests', entry.id)}>
        <span class={`status ${isGood ? 'is-good' : 'is-bad'}`}>
          {isGood ? entry.status : (entry.error?.code ?? entry.status)}
        </span>
        <span class="row-words">
          <strong>{entry.model ?? entry.asked ?? entry.route}</strong>
          <small class="hint">{facts.join(' · ')}</small>
        </span>
      </a>
    </li>
  );
}
