import type { FinishReason, Usage } from '../../core/chunk.ts';
import type { Provider } from '../../core/provider.ts';
import { encodeUsage } from '../../core/usage.ts';
import type { Target } from '../../routing/select.ts';

/** An event that is no chunk of a provider's: its payload stands under the type's name. */
export interface Aside {
  readonly type: 'parameters' | 'headers' | 'request' | 'title' | 'response' | 'continue';
  readonly payload: unknown;
}

/** What the front end gets beside an answer, and where in it. */
export interface Asides {
  /** Behind the provider's introduction. */
  readonly first: readonly Aside[];
  /** Before the usage of an answer that ended well. */
  readonly beforeUsage: readonly Aside[];
  /** Before the finish. */
  beforeFinish(finish: FinishReason, usage: Usage | undefined): readonly Aside[];
}

/** What asides are made of. */
export interface AsidesOf {
  readonly target: Target;
  /** By which the upstream paces its clients. */
  readonly headers: Readonly<Record<string, string>>;
  /** For the debug panel, when it is wanted. */
  readonly request?: Readonly<Record<string, unknown>> | undefined;
  /** For a chat that has just begun. */
  readonly title?: string | undefined;
}

/** The asides of an answer of one target; `continue` says that it was cut and can go on. */
export function asidesOf({ target, headers, request, title }: AsidesOf): Asides {
  const { provider, model } = target;
  return {
    first: [
      { type: 'parameters', payload: parametersOf(provider) },
      ...(Object.keys(headers).length === 0 ? [] : [{ type: 'headers', payload: headers } as const]),
      ...(request === undefined ? [] : [{ type: 'request', payload: request } as const]),
    ],
    beforeUsage: title === undefined ? [] : [{ type: 'title', payload: title }],
    beforeFinish: (finish, usage) => {
      const asides: Aside[] = [];
      if (request !== undefined) {
        // Any other status of an upstream is an error, and no answer.
        const payload = { status: 200, provider: provider.id, model, finish, headers };
        asides.push({
          type: 'response',
          payload: usage === undefined ? payload : { ...payload, usage: encodeUsage(usage) },
        });
      }
      // The answer was cut where it can go on.
      if (finish === 'length') asides.push({ type: 'continue', payload: finish });
      return asides;
    },
  };
}

/** Name → example, from which the front end builds its form of settings. */
function parametersOf(provider: Provider): Record<string, unknown> {
  return {
    provider: provider.id,
    model: '',
    messages: [],
    stream: true,
    timeout: 600,
    response_format: { type: 'json_object' },
    max_tokens: 4096,
    stop: ['stop1', 'stop2'],
    temperature: 1,
    top_p: 1,
    seed: 0,
    ...(provider.auth.kind === 'api_key' ? { api_key: '' } : {}),
  };
}
