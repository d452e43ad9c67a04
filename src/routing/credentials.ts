import type { Credentials } from '../core/call.ts';
import type { Batch } from '../core/chunk.ts';
import { SluiceError } from '../core/errors.ts';
import type { Provider } from '../core/provider.ts';
import { Secrets, withoutSecrets } from '../core/secrets.ts';
import type { AnsweredChunks } from './chunks.ts';
import type { RelayedBody, RelayedStream } from './relayed.ts';

/** Keys that came with a request. */
export interface ClientKeys {
  /** The request's own `api_key`: one for all, or by provider. */
  readonly apiKey?: string | ReadonlyMap<string, string>;
  /** A Bearer token, which many clients send for form's sake. */
  readonly bearer?: string;
}

/**
 * Which key of the client a provider gets. An explicit `api_key` beats configuration; a Bearer token only serves where
 * nothing is configured. Neither goes to a provider that the client did not choose: it may be meant for another one.
 */
export function credentialsFor(provider: Provider, keys: ClientKeys, isChosen: boolean): Credentials {
  if (provider.auth.kind !== 'api_key') return {};
  if (typeof keys.apiKey === 'object') {
    const own = keys.apiKey.get(provider.id) ?? keys.apiKey.get(provider.label.toLowerCase());
    if (own !== undefined) return { apiKey: own };
  } else if (keys.apiKey !== undefined && isChosen) {
    return { apiKey: keys.apiKey };
  }
  if (keys.bearer !== undefined && isChosen && !provider.auth.configured) return { apiKey: keys.bearer };
  return {};
}

/** An error without the client's own key, which upstreams like to quote and which nobody else here knows. */
export function withoutKey(error: unknown, { apiKey }: Credentials): unknown {
  if (apiKey === undefined || !(error instanceof SluiceError)) return error;
  const secrets = new Secrets();
  secrets.use([apiKey]);
  const told = withoutSecrets(error, secrets);
  if (told === error) return error;
  // Its cause would still hold the key.
  const { cause: _, ...rest } = told.options;
  return new SluiceError(told.code, told.message, rest);
}

/** An answer whose later failure does not hold the client's key either. */
export function keepKey<Answer extends AnsweredChunks | RelayedStream | RelayedBody>(
  answer: Answer,
  credentials: Credentials,
): Answer | AnsweredChunks | RelayedStream {
  if (credentials.apiKey === undefined) return answer;
  switch (answer.kind) {
    case 'chunks':
      return { ...answer, chunks: guarded(answer.chunks, credentials) };
    case 'stream': {
      const { kind, headers } = answer;
      return {
        kind,
        headers,
        get isSent() {
          return answer.isSent;
        },
        attach: (sink) =>
          answer.attach({
            write: (latin1) => sink.write(latin1),
            end: () => sink.end(),
            fail: (error) => sink.fail(withoutKey(error, credentials) as SluiceError),
          }),
        resume: () => answer.resume(),
        summary: () => answer.summary(),
      };
    }
    default:
      return answer;
  }
}

async function* guarded(chunks: AsyncIterable<Batch>, credentials: Credentials): AsyncIterable<Batch> {
  try {
    yield* chunks;
  } catch (error) {
    throw withoutKey(error, credentials);
  }
}
