import type { Key } from '../../i18n/dictionary.ts';
import { t } from '../../i18n/index.ts';
import { type ProviderEntry, wayIn } from '../../state/catalog.ts';
import type { Failure } from '../../state/model.ts';

const BY_CODE: Readonly<Record<string, Key>> = {
  unreachable: 'errors.unreachable',
  cut: 'errors.cut',
  lost: 'errors.lost',
  unauthorized: 'errors.unauthorized',
  missing_credentials: 'errors.key',
  provider_not_found: 'errors.otherModel',
  model_not_found: 'errors.otherModel',
  not_found: 'errors.missing',
  not_supported: 'errors.notSupported',
  too_large: 'errors.tooLarge',
  context_length_exceeded: 'errors.tooLarge',
  rate_limited: 'errors.rateLimited',
  insufficient_quota: 'errors.credit',
  upstream_timeout: 'errors.timeout',
  upstream_unreachable: 'errors.upstream',
  upstream_failed: 'errors.upstream',
  upstream_cut: 'errors.upstream',
  upstream_invalid: 'errors.upstream',
  overloaded: 'errors.overloaded',
  shutting_down: 'errors.unreachable',
  invalid_request: 'errors.refused',
  invalid_field: 'errors.refused',
  storage_failed: 'errors.storage',
};

const BY_STATUS: readonly (readonly [from: number, to: number, key: Key])[] = [
  [402, 402, 'errors.credit'],
  [401, 403, 'errors.key'],
  [404, 404, 'errors.otherModel'],
  [413, 413, 'errors.tooLarge'],
  [429, 429, 'errors.rateLimited'],
  [400, 499, 'errors.refused'],
  [502, 504, 'errors.upstream'],
];

/** What a person can do about a failure. */
function adviceFor({ code, status, needsKey }: Failure): Key {
  if (needsKey === true) return 'errors.key';
  const byCode = code === undefined ? undefined : BY_CODE[code];
  if (byCode !== undefined) return byCode;
  const found = BY_STATUS.find(([from, to]) => status !== undefined && status >= from && status <= to);
  return found?.[2] ?? 'errors.again';
}

/** The same, where it is known whose failure it is: not everybody who wants a key can be given one here. */
export function adviceOf(failure: Failure, provider: ProviderEntry | undefined): Key {
  const advice = adviceFor(failure);
  if (advice !== 'errors.key') return advice;
  return ({ key: 'errors.key', cookies: 'errors.cookies', file: 'errors.keyless' } as const)[wayIn(provider)];
}

/** Whether the provider's key is what is missing, or wrong, or of an account that has no credit. */
export function isAboutKey(failure: Failure): boolean {
  return ['errors.key', 'errors.credit'].includes(adviceFor(failure));
}

/** Whether another model helps, and this one for now does not. */
export function isAboutModel(failure: Failure): boolean {
  return ['errors.otherModel', 'errors.credit'].includes(adviceFor(failure));
}

/** What went wrong: in the server's words where it has some. */
export function reasonOf(failure: Failure): string {
  return failure.message || t(adviceFor(failure));
}
