import type { CallScope } from '../core/call.ts';
import { SluiceError } from '../core/errors.ts';
import type { Ability, Provider } from '../core/provider.ts';
import { withoutKey } from '../routing/credentials.ts';
import type { Asked, Performed } from '../routing/router.ts';
import type { Target } from '../routing/select.ts';
import type { Deps } from './deps.ts';

/** A provider that has an ability. */
export type Able<A extends Ability> = Provider & Required<Pick<Provider, A>>;

/** How a provider is asked: with a call of its own, and its own name for the model; empty: its default. */
export type Ask<A extends Ability, T> = (provider: Able<A>, model: string, scope: CallScope) => Promise<T>;

/**
 * Has a provider do something, with fallbacks like every answer: a provider that lacks the ability, or does not answer within
 * `waitMs`, makes place for the next one. `isOver` says whether all is done with the answer of `ask`; where it is not, because
 * a stream follows, its reader ends the call that `ask` got.
 */
export function perform<A extends Exclude<Ability, 'chat'>, T>(
  deps: Deps,
  asked: Asked,
  ability: A,
  call: CallScope,
  ask: Ask<A, T>,
  { waitMs = deps.config().limits.firstByteMs, isOver = () => true }: PerformOptions<T> = {},
): Promise<Performed<T>> {
  const wish = { ...asked.wish, ability };
  return deps.router.perform({ ...asked, wish }, call, ({ provider, model }: Target, scope) =>
    within(deps, scope, waitMs, () => ask(ableTo(provider, ability), model, scope), isOver),
  );
}

/** Waits for what `ask` does with a call that it ends, but not for longer than `waitMs`, nor than the call lasts. */
export async function within<T>(
  deps: Pick<Deps, 'deadlines'>,
  scope: CallScope,
  waitMs: number,
  ask: () => Promise<T>,
  isOver: (answer: T) => boolean = () => true,
): Promise<T> {
  const deadline = deps.deadlines.start(waitMs, () =>
    scope.cancel(new SluiceError('upstream_timeout', `The provider has not answered within ${waitMs} ms.`)),
  );
  const { promise: cancelled, reject } = Promise.withResolvers<never>();
  cancelled.catch(() => {});
  const unlisten = scope.onCancel(reject);
  let isWhole = true;
  try {
    // Not every library heeds its signal at once.
    const answer = await Promise.race([ask(), cancelled]);
    isWhole = isOver(answer);
    return answer;
  } catch (error) {
    throw scope.cancelled ?? error;
  } finally {
    deadline.clear();
    unlisten();
    if (isWhole) scope.release();
  }
}

interface PerformOptions<T> {
  /** Milliseconds until the answer, or the beginning of a stream, has to be there. */
  readonly waitMs?: number;
  readonly isOver?: (answer: T) => boolean;
}

function ableTo<A extends Ability>(provider: Provider, ability: A): Able<A> {
  if (provider[ability] !== undefined) return provider as Able<A>;
  throw new SluiceError('not_supported', `${provider.label} cannot do this: it ${CANNOT[ability]}.`, {
    param: 'provider',
  });
}

const CANNOT: Readonly<Record<Ability, string>> = {
  chat: 'does not chat',
  speech: 'does not read texts aloud',
  image: 'makes no pictures',
  transcribe: 'does not transcribe audio',
  embed: 'makes no embeddings',
  moderate: 'does not moderate',
  rerank: 'does not rerank',
};

/** A stream under the idle deadline; its end, for whatever reason, is the end of the call. Time runs only while somebody waits. */
export async function* timed<T>(items: AsyncIterable<T>, deps: Deps, scope: CallScope): AsyncGenerator<T, void> {
  const { idleMs } = deps.config().limits;
  const deadline = deps.deadlines.start(idleMs, () =>
    scope.cancel(new SluiceError('upstream_timeout', `The provider has sent nothing for ${idleMs} ms.`)),
  );
  try {
    for await (const item of items) {
      deadline.set(Number.POSITIVE_INFINITY);
      yield item;
      deadline.set(idleMs);
    }
  } catch (error) {
    throw withoutKey(scope.cancelled ?? error, scope.credentials);
  } finally {
    deadline.clear();
    scope.cancel();
    scope.release();
  }
}
