import { SluiceError } from '../core/errors.ts';
import { codeOf } from './error-code.ts';

/** What went wrong with a guarded fetch, in words for people. `name` is the address as messages show it. */
export function toFailure(thrown: unknown, name: string, signal: AbortSignal, timeoutMs: number): SluiceError {
  if (thrown instanceof SluiceError) return thrown;
  if (signal.aborted) {
    const { reason } = signal;
    if (reason instanceof SluiceError) return reason;
    if (reason instanceof DOMException && reason.name === 'TimeoutError') {
      return new SluiceError('upstream_timeout', `'${name}' did not arrive within ${timeoutMs} ms.`, { cause: thrown });
    }
    return new SluiceError('cancelled', `Fetching '${name}' was cancelled.`, { cause: thrown });
  }
  // undici leaves the code of some parser errors empty.
  const isGarbled = thrown instanceof Error && thrown.name === 'HTTPParserError';
  const code = isGarbled && thrown.message.includes('Invalid EOF state') ? 'HPE_INVALID_EOF_STATE' : codeOf(thrown);
  const failure = (
    kind: 'upstream_unreachable' | 'upstream_timeout' | 'upstream_cut' | 'upstream_invalid',
    text: string,
  ) => new SluiceError(kind, text, { cause: thrown });
  switch (code) {
    case 'UND_ERR_CONNECT_TIMEOUT':
    case 'ETIMEDOUT':
      return failure('upstream_timeout', `'${name}' did not accept a connection in time.`);
    case 'ECONNRESET':
    case 'EPIPE':
    case 'UND_ERR_SOCKET':
    case 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH':
    case 'HPE_INVALID_EOF_STATE':
      return failure('upstream_cut', `'${name}' was cut off before its end.`);
    case 'Z_DATA_ERROR':
    case 'Z_BUF_ERROR':
      return failure('upstream_invalid', `'${name}' is broken compressed data.`);
  }
  if (code.startsWith('ERR__ERROR_FORMAT')) return failure('upstream_invalid', `'${name}' is broken compressed data.`);
  if (/CERT|SSL|TLS|SELF_SIGNED|ALTNAME/.test(code)) {
    return failure('upstream_unreachable', `'${name}' has no valid certificate (${code}).`);
  }
  if (isGarbled || /^(?:HPE_|UND_ERR_)/.test(code)) {
    return failure('upstream_invalid', `'${name}' answered with something that is not valid HTTP.`);
  }
  return failure('upstream_unreachable', `'${name}' could not be reached${code === '' ? '' : ` (${code})`}.`);
}
