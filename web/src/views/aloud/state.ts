import { createStore } from '../../state/store.ts';

/** What is being read aloud. */
export interface Reading {
  readonly message: string;
  readonly phase: 'loading' | 'playing' | 'paused';
  /** The sentence, counted from 0, and how many there are. */
  readonly at: number;
  readonly count: number;
}

/** One voice at a time, whatever screen is shown. */
export const aloud = createStore<Reading | undefined, Reading | undefined>((_, next) => next, undefined);
