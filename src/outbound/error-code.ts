import { SluiceError } from '../core/errors.ts';

/** Errors of one chain of causes that are looked at: it may lead back into itself. */
const MOST_CAUSES = 4;

/** The system's or a library's code for what was thrown: its own, or that of its nearest cause that has one; '' without any. */
export function codeOf(thrown: unknown): string {
  return failureIn(thrown)?.code ?? '';
}

/** Whether what was spoken to by TLS answered without. */
export function isWithoutTls(thrown: unknown): boolean {
  return /wrong.version.number|packet.length.too.long|http.request/i.test(saidOfTls(thrown));
}

/** Whether both sides speak TLS, and found none that both speak: of another version, or for HTTP/2 only. */
export function isDisagreement(thrown: unknown): boolean {
  return /protocol.version|unsupported.protocol|no.application.protocol|handshake.failure/i.test(saidOfTls(thrown));
}

/** Node says it in a code of its own, or in that of a write that fails by it. */
function saidOfTls(thrown: unknown): string {
  const { code = '', message = '' } = failureIn(thrown) ?? {};
  return code === 'EPROTO' ? message : code;
}

/** Whether it is the code of a certificate that is not taken: of an unknown authority, of another name, or out of date. */
export function isDistrust(code: string): boolean {
  return /^(?!ERR_SSL_).*(?:CERT|LEAF_SIGNATURE|HOSTNAME_MISMATCH)/.test(code);
}

/** Whether an address was given up for the next one, and none of the others was any better: it may only have been slow. */
export function isHasty(thrown: unknown): boolean {
  const error = thrown instanceof SluiceError ? thrown.cause : thrown;
  return error instanceof AggregateError && error.errors.some((each) => codeOf(each) === 'ETIMEDOUT');
}

/** Whether a connection that stood fell silent: the other side, or the way to it, is gone without a word. */
export function isSilenced(thrown: unknown): boolean {
  const { code = '', message = '' } = failureIn(thrown) ?? {};
  return code === 'ETIMEDOUT' && /^(?:read|write) /.test(message);
}

function failureIn(thrown: unknown): { readonly code: string; readonly message: string } | undefined {
  let error = thrown;
  for (let looked = 0; error instanceof Error && looked < MOST_CAUSES; looked += 1) {
    // Our own errors have codes, too; what they were made of is their cause.
    if (!(error instanceof SluiceError) && 'code' in error && typeof error.code === 'string')
      return { code: error.code, message: error.message };
    error = error instanceof AggregateError && error.errors.length > 0 ? error.errors[0] : error.cause;
  }
  return undefined;
}
