import type { Message } from '../../state/model.ts';
import { aloud } from './state.ts';

/** Reads an answer aloud, or ends that; the code for it comes when it is needed. */
export function toggleReading(message: Message): void {
  const isThis = aloud.get()?.message === message.id;
  void player().then(({ readAloud, stopReading }) => (isThis ? stopReading() : readAloud(message)));
}

export function player(): Promise<typeof import('./player.ts')> {
  return import('./player.ts');
}
