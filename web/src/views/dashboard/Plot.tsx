import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { t } from '../../i18n/index.ts';
import { type Measure, type Series, sum, ticksUpTo } from '../../state/dashboard.ts';
import { figure, shortDay } from './figures.ts';

export interface PlotProps {
  readonly label: string;
  readonly dates: readonly string[];
  readonly series: readonly Series[];
  readonly measure: Measure;
}

const HEIGHT = 220;
const FOOT = 24;
const TOP = 10;
const SIDE = 56;

/** A bar for each day, of one part for each series. The same is there as a table for those who do not see it. */
export function Plot({ label, dates, series, measure }: PlotProps) {
  const frame = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(640);
  const [at, setAt] = useState<number>();
  useLayoutEffect(() => {
    const node = frame.current;
    if (node === null) return;
    const observer = new ResizeObserver(() => setWidth(Math.max(240, node.clientWidth)));
    observer.observe(node);
    return () => observer.disconnect();
  }, []);
  const totals = dates.map((_, index) => sum(series.map(({ values }) => values[index] ?? 0)));
  const ticks = ticksUpTo(Math.max(...totals, 0));
  const most = ticks.at(-1) || 1;
  const step = (width - SIDE - 4) / Math.max(1, dates.length);
  const bar = Math.max(1, Math.min(40, step * 0.72));
  const y = (value: number): number => TOP + (HEIGHT - TOP - FOOT) * (1 - value / most);
  const every = Math.ceil(dates.length / Math.max(1, Math.floor((width - SIDE) / 76)));
  const markAt = (event: PointerEvent): void => {
    const box = (event.currentTarget as Element).getBoundingClientRect();
    const index = Math.floor((event.clientX - box.left - SIDE) / step);
    setAt(index >= 0 && index < dates.length ? index : undefined);
  };
  return (
    <figure class="plot">
      <div ref={frame} class="plot-frame" dir="ltr">
        <svg
          role="img"
          aria-label={label}
          width={width}
          height={HEIGHT}
          viewBox={`0 0 ${width} ${HEIGHT}`}
          onPointerMove={markAt}
          onPointerLeave={() => setAt(undefined)}
        >
          {ticks.map((tick) => (
            <g key={tick}>
              <line class="plot-line" x1={SIDE} x2={width} y1={y(tick)} y2={y(tick)} />
              <text class="plot-text" x={SIDE - 8} y={y(tick) + 4} text-anchor="end">
                {figure(tick, measure)}
              </text>
            </g>
          ))}
          {at !== undefined && (
            <rect class="plot-mark" x={SIDE + at * step} y={TOP} width={step} height={HEIGHT - TOP - FOOT} />
          )}
          {dates.map((date, index) => {
            let below = 0;
            return (
              <g key={date}>
                {series.map(({ name, values }, own) => {
                  const value = values[index] ?? 0;
                  if (value <= 0) return null;
                  const from = below;
                  below += value;
                  return (
                    <rect
                      key={name}
                      class={`series-${name === '' ? 'rest' : own}`}
                      x={SIDE + index * step + (step - bar) / 2}
                      y={y(below)}
                      width={bar}
                      height={Math.max(0.5, y(from) - y(below))}
                    />
                  );
                })}
                {index % every === 0 && (
                  <text
                    class="plot-text"
                    x={SIDE + index * step + step / 2}
                    y={HEIGHT - 6}
                    text-anchor={index === 0 && step < 30 ? 'start' : 'middle'}
                  >
                    {shortDay(date)}
                  </text>
                )}
              </g>
            );
          })}
        </svg>
      </div>
      <figcaption class="plot-legend">
        <p class="plot-when">
          {at === undefined
            ? t('dashboard.period', { from: shortDay(dates[0] ?? ''), to: shortDay(dates.at(-1) ?? '') })
            : shortDay(dates[at] ?? '')}
          <strong>{figure(at === undefined ? sum(totals) : (totals[at] ?? 0), measure)}</strong>
        </p>
        <ul>
          {series.map(({ name, values }, own) => (
            <li key={name}>
              <i class={`series-${name === '' ? 'rest' : own}`} />
              <span>{name === '' ? t('dashboard.others') : name}</span>
              <span class="plot-figure">{figure(at === undefined ? sum(values) : (values[at] ?? 0), measure)}</span>
            </li>
          ))}
        </ul>
      </figcaption>
      <details class="plot-table">
        <summary>{t('dashboard.asTable')}</summary>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard */}
        <section class="table-scroll" tabIndex={0} aria-label={label}>
          <table>
            <thead>
              <tr>
                <th scope="col">{t('dashboard.day')}</th>
                {series.map(({ name }) => (
                  <th key={name} scope="col">
                    {name === '' ? t('dashboard.others') : name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {dates.map(
                (date, index) =>
                  (totals[index] ?? 0) > 0 && (
                    <tr key={date}>
                      <th scope="row">{shortDay(date)}</th>
                      {series.map(({ name, values }) => (
                        <td key={name}>{figure(values[index] ?? 0, measure)}</td>
                      ))}
                    </tr>
                  ),
              )}
            </tbody>
          </table>
        </section>
      </details>
    </figure>
  );
}
