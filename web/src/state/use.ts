import { useLayoutEffect, useReducer, useRef } from 'preact/hooks';
import { app } from './app.ts';
import type { State } from './index.ts';

/**
 * What `select` takes out of the state; the component renders again when that is another value. Anything `select` puts
 * together itself (lists, objects) has to be memoised, or `isSame` has to tell.
 */
export function useApp<Value>(
  select: (state: State) => Value,
  isSame: (a: Value, b: Value) => boolean = Object.is,
): Value {
  const [, again] = useReducer((count: number) => count + 1, 0);
  const value = select(app.get());
  const shown = useRef({ value, select });
  if (!isSame(shown.current.value, value)) shown.current.value = value;
  shown.current.select = select;
  const check = (): void => {
    if (!isSame(shown.current.value, shown.current.select(app.get()))) again(undefined);
  };
  useLayoutEffect(() => {
    // Between rendering and subscribing the state may have moved on.
    check();
    return app.subscribe(check);
  }, []);
  return shown.current.value;
}

/** For `useApp`: lists are the same when their members are. */
export function sameMembers<Member>(a: readonly Member[], b: readonly Member[]): boolean {
  return a.length === b.length && a.every((member, index) => Object.is(member, b[index]));
}
