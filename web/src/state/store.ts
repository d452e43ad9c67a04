/** A value that only its reducer changes, and those who want to know. */
export interface Store<State, Action> {
  get(): State;
  dispatch(action: Action): void;
  /** Returns the way to end it. */
  subscribe(listener: () => void): () => void;
}

/** Listeners are called only when the reducer returns another state than it got. */
export function createStore<State, Action>(
  reduce: (state: State, action: Action) => State,
  initial: State,
): Store<State, Action> {
  let state = initial;
  const listeners = new Set<() => void>();
  return {
    get: () => state,
    dispatch: (action) => {
      const next = reduce(state, action);
      if (next === state) return;
      state = next;
      for (const listener of [...listeners]) listener();
    },
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
