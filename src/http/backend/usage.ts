import { daysUpTo } from '../../core/days.ts';
import { SluiceError, toSluiceError } from '../../core/errors.ts';
import { withLineFeedsOnly } from '../../core/line-ends.ts';
import type { TokensOf } from '../../core/stores.ts';
import { UsageBatch } from '../../core/usage-batch.ts';
import type { UsageRecord, UsageTotals } from '../../core/usage-record.ts';
import { openStream } from '../answer.ts';
import type { Deps, Handler } from '../deps.ts';
import type { JsonBody } from '../edge/json-body.ts';
import { insightsOf } from '../observe/stats.ts';
import { printable, userOf } from '../user.ts';
import { validateQuery } from '../validate.ts';
import { RECORD_BYTES, withoutControls } from './record.ts';
import { StatsQuery } from './wire.ts';

/** Fields of a record that are Sluice's own: a client can neither set nor change them. */
const RESERVED: ReadonlySet<string> = new Set(['time', 'ip']);
const COUNTED: ReadonlySet<string> = new Set([
  'user',
  'provider',
  'model',
  'prompt_tokens',
  'completion_tokens',
  'total_tokens',
  'saved_tokens',
]);

/** `POST usage`: what a front end counted itself. */
export function postUsage(deps: Deps): Handler {
  return async (request) => {
    const { value, bytes } = request.body as JsonBody;
    if (bytes.length > RECORD_BYTES)
      throw new SluiceError('too_large', `A usage record has at most ${RECORD_BYTES} bytes.`);
    const promptTokens = count(value, 'prompt_tokens');
    const completionTokens = count(value, 'completion_tokens');
    const more = Object.entries(value).filter(([name]) => !RESERVED.has(name) && !COUNTED.has(name));
    const record: UsageRecord = {
      time: Date.now(),
      user: userOf(request, name(value, 'user')),
      provider: name(value, 'provider'),
      model: name(value, 'model'),
      promptTokens,
      completionTokens,
      totalTokens: count(value, 'total_tokens') || promptTokens + completionTokens,
      savedTokens: count(value, 'saved_tokens'),
      more: withoutControls(Object.fromEntries(more)) as Record<string, unknown>,
    };
    await deps.stores.usage.add(UsageBatch.of(record));
    return {};
  };
}

/** `GET usage/<yyyy-mm-dd>`: the records of a day, one JSON line each. */
export function getUsage(deps: Deps): Handler {
  return async (request, reply) => {
    const { date } = request.params as { date: string };
    if (!isDate(date)) throw new SluiceError('invalid_request', 'The date must be yyyy-mm-dd.', { param: 'date' });
    await deps.writeUsage();
    const records = deps.stores.usage.day(date)[Symbol.asyncIterator]();
    const first = await records.next();
    if (first.done === true) throw new SluiceError('not_found', `Not found: no usage on ${date}.`);
    const stream = openStream(reply, 'text/plain; charset=utf-8', {}, deps);
    try {
      for (
        let step: IteratorResult<UsageRecord> = first;
        step.done !== true && !stream.closed;
        step = await records.next()
      ) {
        if (!stream.write(`${withLineFeedsOnly(JSON.stringify(toWire(step.value)))}\n`)) await stream.drained();
      }
      await records.return?.();
      stream.end();
    } catch (thrown) {
      const { code, message } = toSluiceError(thrown);
      deps.log.warn({ id: request.id, code, error: deps.secrets.mask(message) }, 'reading the usage of a day failed');
      // Lines of text have no place for an error: the missing end of the body is the only sign.
      stream.cut();
    }
    return reply;
  };
}

/** `GET stats`: sums over days, and what these were like. */
export function stats(deps: Deps): Handler {
  return async (request) => {
    const { days, user } = validateQuery(StatsQuery, request.query, 'invalid_request');
    const today = new Date().toISOString().slice(0, 10);
    await deps.writeUsage();
    const found = await deps.stores.usage.stats({ today, days, ...(user === undefined ? {} : { user }) });
    const tokensByName = (rows: readonly TokensOf[]): Record<string, number> =>
      Object.fromEntries(
        [...rows].sort((a, b) => b.totalTokens - a.totalTokens).map((row) => [row.name, row.totalTokens]),
      );
    const insights = await insightsOf(deps.observer.ledger, daysUpTo(today, days), user);
    return {
      days: found.days.map(({ date, ...totals }) => ({ date, ...totalsToWire(totals) })),
      models: tokensByName(found.models),
      providers: tokensByName(found.providers),
      users: tokensByName(found.users),
      totals: totalsToWire(found.totals),
      insights,
    };
  };
}

function toWire(record: UsageRecord): Record<string, unknown> {
  return {
    ...record.more,
    time: new Date(record.time).toISOString(),
    user: record.user,
    provider: record.provider,
    model: record.model,
    prompt_tokens: record.promptTokens,
    completion_tokens: record.completionTokens,
    total_tokens: record.totalTokens,
    ...(record.savedTokens === 0 ? {} : { saved_tokens: record.savedTokens }),
  };
}

function totalsToWire(totals: UsageTotals): Record<string, number> {
  return {
    requests: totals.requests,
    prompt_tokens: totals.promptTokens,
    completion_tokens: totals.completionTokens,
    total_tokens: totals.totalTokens,
    saved_tokens: totals.savedTokens,
  };
}

/** The name of a user, a provider or a model; '': none is given. */
function name(body: Record<string, unknown>, field: string): string {
  const value = body[field] ?? '';
  if (typeof value === 'string') return printable(value) ?? '';
  throw new SluiceError('invalid_request', `'${field}' must be a string.`, { param: field });
}

/** A count of tokens; anything that is none counts as nothing. */
function count(body: Record<string, unknown>, name: string): number {
  const value = body[name];
  if (value === undefined || value === null) return 0;
  if (typeof value === 'number' && Number.isFinite(value) && value >= 0 && value <= 1e12) return Math.round(value);
  throw new SluiceError('invalid_request', `'${name}' must be a number of tokens.`, { param: name });
}

function isDate(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return false;
  const date = new Date(`${text}T00:00:00Z`);
  // 30 February would become a day of March.
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}
