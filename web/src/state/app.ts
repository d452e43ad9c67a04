import { type Action, initialState, reduce, type State } from './index.ts';
import { createStore } from './store.ts';

/** The one state of this tab. */
export const app = createStore<State, Action>(reduce, initialState);
