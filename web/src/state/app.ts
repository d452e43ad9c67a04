import { type Action, initialState, reduce, type State } from './index.ts';
import { createStore } from './store.ts';

/** The one state of this tab. */
export const app = createStore<State, Action>(reduce, initialState);

/** Resolves once the state is as `isSo` wants it. */
export function until(isSo: (state: State) => boolean): Promise<void> {
  return new Promise((resolve) => {
    const look = (): void => {
      if (!isSo(app.get())) return;
      end();
      resolve();
    };
    const end = app.subscribe(look);
    look();
  });
}
