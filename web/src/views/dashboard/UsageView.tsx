import { useEffect, useMemo, useState } from 'preact/hooks';
import {
  type Insight,
  loadStats,
  loadUsage,
  type NamedInsight,
  type Stats,
  type UsageLine,
} from '../../api/observe.ts';
import { Choices } from '../../components/Choices.tsx';
import { Problem } from '../../components/Problem.tsx';
import { t } from '../../i18n/index.ts';
import { type Grouping, type Measure, seriesOf, type UsageByDay } from '../../state/dashboard.ts';
import { useApp } from '../../state/use.ts';
import { dollars, milliseconds, short } from './figures.ts';
import { Plot } from './Plot.tsx';
import { useLoaded } from './use-loaded.ts';

const PERIODS = ['7', '30', '90'] as const;
type Period = (typeof PERIODS)[number];

/** How much was used, what it cost, how long it took and what went wrong. */
export function UsageView() {
  const [period, setPeriod] = useState<Period>('30');
  const [measure, setMeasure] = useState<Measure>('tokens');
  const [grouping, setGrouping] = useState<Grouping>('model');
  const stats = useLoaded((signal) => loadStats(Number(period), signal), [period]);
  const usage = useUsage(stats.value);
  const { value } = stats;
  return (
    <>
      <div class="dashboard-choices">
        <Choices
          isPlain
          label={t('dashboard.days')}
          value={period}
          options={PERIODS.map((days) => [days, t('dashboard.lastDays', { count: Number(days) })] as const)}
          onChange={setPeriod}
        />
        <Choices
          isPlain
          label={t('dashboard.measure')}
          value={measure}
          options={[
            ['tokens', t('dashboard.tokens')],
            ['cost', t('dashboard.cost')],
            ['requests', t('dashboard.requests')],
          ]}
          onChange={setMeasure}
        />
        <Choices
          isPlain
          label={t('dashboard.grouping')}
          value={grouping}
          options={[
            ['model', t('dashboard.byModel')],
            ['provider', t('dashboard.byProvider')],
          ]}
          onChange={setGrouping}
        />
      </div>
      <Problem failure={stats.failure} again={stats.again} />
      {value !== undefined && <Tiles stats={value} />}
      {value === undefined ? (
        stats.failure === undefined && (
          <p class="plot-waiting nothing is-late" role="status" aria-busy={true}>
            {t('shell.loading')}
          </p>
        )
      ) : (
        <UsagePlot stats={value} usage={usage} measure={measure} grouping={grouping} />
      )}
      {value !== undefined && <Names stats={value} grouping={grouping} />}
      {value?.insights !== undefined && <Errors errors={value.insights.errors} />}
    </>
  );
}

/** At the same time. */
const AT_ONCE = 4;

/** The records of the days on which there are any. Past days do not change: they are read once. */
function useUsage(stats: Stats | undefined): UsageByDay {
  const [byDay, setByDay] = useState<UsageByDay>(new Map());
  useEffect(() => {
    if (stats === undefined) return;
    const leaving = new AbortController();
    const last = stats.days.at(-1)?.date;
    const queue = stats.days
      .filter(({ date, requests }) => requests > 0 && (date === last || !byDay.has(date)))
      .map(({ date }) => date)
      .reverse();
    const work = async (): Promise<void> => {
      for (let date = queue.shift(); date !== undefined; date = queue.shift()) {
        const own = date;
        const lines: readonly UsageLine[] = await loadUsage(own, leaving.signal).catch(() => []);
        if (leaving.signal.aborted) return;
        setByDay((before) => new Map([...before, [own, lines]]));
      }
    };
    for (let index = 0; index < AT_ONCE; index += 1) void work();
    return () => leaving.abort();
  }, [stats]);
  return byDay;
}

interface UsagePlotProps {
  readonly stats: Stats;
  readonly usage: UsageByDay;
  readonly measure: Measure;
  readonly grouping: Grouping;
}

function UsagePlot({ stats, usage, measure, grouping }: UsagePlotProps) {
  const found = useMemo(() => seriesOf(stats, usage, measure, grouping), [stats, usage, measure, grouping]);
  const catalog = useApp((state) => state.catalog.providers);
  const series =
    grouping === 'model'
      ? found
      : found.map(({ name, values }) => ({ name: catalog.find((each) => each.name === name)?.label ?? name, values }));
  const what = { tokens: t('dashboard.tokens'), cost: t('dashboard.cost'), requests: t('dashboard.requests') }[measure];
  if (series.length === 0) {
    return (
      <p class="nothing">
        {t(measure === 'cost' && stats.totals.requests > 0 ? 'dashboard.noPrices' : 'dashboard.empty')}
      </p>
    );
  }
  return <Plot label={what} dates={stats.days.map(({ date }) => date)} series={series} measure={measure} />;
}

function Tiles({ stats }: { readonly stats: Stats }) {
  const { totals, insights } = stats;
  const all = insights?.all;
  const tiles: readonly (readonly [string, string, string?])[] = [
    [t('dashboard.requests'), short(all?.requests ?? totals.requests)],
    [
      t('dashboard.tokens'),
      short(totals.total_tokens),
      t('dashboard.inOut', { prompt: short(totals.prompt_tokens), completion: short(totals.completion_tokens) }),
    ],
    [t('dashboard.cost'), dollars(all?.cost ?? totals.cost), unpriced(all)],
    ...(all === undefined
      ? []
      : ([
          [t('dashboard.errors'), short(all.errors), shareOf(all)],
          [t('dashboard.firstWords'), milliseconds(all.first_chunk_ms?.p50), mostWithin(all.first_chunk_ms?.p90)],
          [t('dashboard.whole'), milliseconds(all.duration_ms?.p50), mostWithin(all.duration_ms?.p90)],
        ] as const)),
  ];
  return (
    <dl class="tiles">
      {tiles.map(([name, value, hint]) => (
        <div key={name} class="tile">
          <dt>{name}</dt>
          <dd>
            <strong>{value}</strong>
            <small>{hint}</small>
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** Nothing where nothing was measured. A small tile has two lines for it: the unit stays beside its figure. */
function mostWithin(p90: number | undefined): string {
  return p90 === undefined ? '' : t('dashboard.p90', { time: milliseconds(p90).replace(' ', '\u00a0') });
}

function unpriced(all: Insight | undefined): string {
  return all !== undefined && all.unpriced > 0 ? t('dashboard.unpriced', { count: all.unpriced }) : '';
}

function shareOf({ errors, requests }: Insight): string {
  return requests === 0 ? '' : t('dashboard.share', { percent: Math.round((errors / requests) * 1000) / 10 });
}

/** The same by model or provider, in figures. */
function Names({ stats, grouping }: { readonly stats: Stats; readonly grouping: Grouping }) {
  const providers = useApp((state) => state.catalog.providers);
  const labelOf = (name: string): string => providers.find((each) => each.name === name)?.label ?? name;
  const tokens = grouping === 'model' ? stats.models : stats.providers;
  const known = grouping === 'model' ? stats.insights?.models : stats.insights?.providers;
  const rows: readonly Partial<NamedInsight>[] = known ?? Object.keys(tokens).map((name) => ({ name }));
  if (rows.length === 0) return null;
  // Tokens are counted by the model's name alone, whoever offers it.
  const names = rows.map(({ name }) => name);
  const isOnce = (name: string): boolean => names.indexOf(name) === names.lastIndexOf(name);
  return (
    <section
      class="table-scroll names"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard
      tabIndex={0}
      aria-label={t(`dashboard.${grouping === 'model' ? 'byModel' : 'byProvider'}`)}
    >
      <table>
        <thead>
          <tr>
            <th scope="col">{t(grouping === 'model' ? 'dashboard.model' : 'dashboard.provider')}</th>
            <th scope="col">{t('dashboard.requests')}</th>
            <th scope="col">{t('dashboard.tokens')}</th>
            <th scope="col">{t('dashboard.cost')}</th>
            <th scope="col">{t('dashboard.errors')}</th>
            <th scope="col">{t('dashboard.firstWords')}</th>
            <th scope="col">{t('dashboard.whole')}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ name = '', provider, requests, cost, errors, first_chunk_ms: first, duration_ms: whole }) => (
            <tr key={`${provider} ${name}`}>
              <th scope="row">
                {grouping === 'provider' ? labelOf(name) : name}
                {provider !== undefined && <small>{labelOf(provider)}</small>}
              </th>
              <td>{requests === undefined ? '–' : short(requests)}</td>
              <td>{tokens[name] === undefined || !isOnce(name) ? '–' : short(tokens[name] ?? 0)}</td>
              <td>{dollars(cost)}</td>
              <td>{errors === undefined ? '–' : short(errors)}</td>
              <td>{milliseconds(first?.p50)}</td>
              <td>{milliseconds(whole?.p50)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Errors({ errors }: { readonly errors: Readonly<Record<string, number>> }) {
  const rows = Object.entries(errors);
  if (rows.length === 0) return null;
  const most = Math.max(...rows.map(([, count]) => count));
  return (
    <section class="errors" aria-labelledby="errors-title">
      <h2 id="errors-title">{t('dashboard.errorsByCode')}</h2>
      <ul>
        {rows.map(([code, count]) => (
          <li key={code}>
            <code>{code}</code>
            <progress max={most} value={count} aria-label={code} />
            <span>{short(count)}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
