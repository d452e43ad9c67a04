import { region } from '../../i18n/index.ts';
import type { Measure } from '../../state/dashboard.ts';

/** 1234567 → 1.2M */
export function short(value: number): string {
  return value.toLocaleString(region(), { notation: 'compact', maximumFractionDigits: value < 10 ? 2 : 1 });
}

/** US dollars. Null: nobody knows. */
export function dollars(amount: number | null | undefined): string {
  if (amount === null || amount === undefined) return '–';
  const digits = amount === 0 || amount >= 1 ? 2 : Math.min(6, 2 - Math.floor(Math.log10(amount)));
  return amount.toLocaleString(region(), {
    style: 'currency',
    currency: 'USD',
    currencyDisplay: 'narrowSymbol',
    maximumFractionDigits: digits,
  });
}

/** Milliseconds, as seconds from one of them on. */
export function milliseconds(value: number | null | undefined): string {
  if (value === null || value === undefined) return '–';
  if (value < 1_000) return `${Math.round(value)} ms`;
  const seconds = value / 1_000;
  return `${seconds.toLocaleString(region(), { maximumFractionDigits: seconds < 10 ? 1 : 0 })} s`;
}

/** Costs in US dollars, everything else as a short number. */
export function figure(value: number, measure: Measure): string {
  return measure === 'cost' ? dollars(value) : short(value);
}

/** yyyy-mm-dd, in the reader's way. */
export function shortDay(date: string): string {
  return new Date(`${date}T00:00:00Z`).toLocaleDateString(region(), {
    day: 'numeric',
    month: 'short',
    timeZone: 'UTC',
  });
}

/** A moment as ISO 8601, in the reader's way. */
export function moment(time: string): string {
  return new Date(time).toLocaleString(region(), { dateStyle: 'short', timeStyle: 'medium' });
}
