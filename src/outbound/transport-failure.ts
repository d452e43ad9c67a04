import { type ErrorOptions, SluiceError } from '../core/errors.ts';
import { NotHttp, SpeaksTls } from './answer-reader.ts';
import { codeOf, isDisagreement, isDistrust, isHasty, isSilenced, isWithoutTls } from './error-code.ts';

/** What went wrong on the way to an upstream, in words for people; addresses and internals stay out of them. */
export function transportFailure(thrown: unknown): SluiceError {
  if (thrown instanceof SluiceError) return thrown;
  const options = { cause: thrown };
  if (thrown instanceof SpeaksTls) return speaksTls(options);
  if (thrown instanceof NotHttp)
    return new SluiceError('upstream_invalid', 'The provider sent something that is not valid HTTP.', options);
  const code = codeOf(thrown);
  if (isDistrust(code))
    return new SluiceError(
      'upstream_unreachable',
      `The provider's certificate is not trusted here (${code}).`,
      options,
    );
  if (isWithoutTls(thrown))
    return new SluiceError(
      'upstream_unreachable',
      "What answers at the provider's address speaks no TLS: the address has to begin with http://.",
      options,
    );
  if (isDisagreement(thrown))
    return new SluiceError(
      'upstream_unreachable',
      'The provider has to speak TLS 1.2 or newer, and HTTP/1.1 in it.',
      options,
    );
  if (isSilenced(thrown))
    return new SluiceError(
      'upstream_timeout',
      'The provider fell silent: its machine, or the way to it, does not answer any more.',
      options,
    );
  // Worth another attempt, which has more patience.
  if (isHasty(thrown))
    return new SluiceError(
      'upstream_unreachable',
      "None of the provider's addresses accepted a connection in time.",
      options,
    );
  switch (code) {
    case 'ECONNREFUSED':
      return new SluiceError(
        'upstream_unreachable',
        "Nothing answers at the provider's address (connection refused).",
        options,
      );
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return new SluiceError('upstream_unreachable', "The provider's host name could not be resolved.", options);
    case 'EADDRNOTAVAIL':
    case 'EMFILE':
    case 'ENFILE':
      return new SluiceError(
        'upstream_unreachable',
        `The system gives Sluice no further connection to the provider (${code}).`,
        options,
      );
    case 'ETIMEDOUT':
      return new SluiceError('upstream_timeout', 'The provider did not accept a connection in time.', options);
    case 'ECONNRESET':
    case 'EPIPE':
      return new SluiceError(
        'upstream_cut',
        'The provider closed the connection before its answer was complete.',
        options,
      );
    default:
      return new SluiceError('upstream_unreachable', 'The provider could not be reached.', options);
  }
}

/** Plain HTTP was spoken to a server that wants TLS. */
export function speaksTls(options: ErrorOptions = {}): SluiceError {
  return new SluiceError(
    'upstream_invalid',
    "What answers at the provider's address speaks TLS: the address has to begin with https://.",
    options,
  );
}
