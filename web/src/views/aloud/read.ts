import { withPart } from '../../components/with-part.ts';
import type { Message } from '../../state/model.ts';
import { aloud } from './state.ts';

/** Reads an answer aloud, or ends that; the code for it comes when it is needed. */
export function toggleReading(message: Message): void {
  const isThis = aloud.get()?.message === message.id;
  withPlayer(({ readAloud, stopReading }) => (isThis ? stopReading() : void readAloud(message)));
}

/** Loads the player when it is first needed. */
export function withPlayer(use: (player: typeof import('./player.ts')) => void): void {
  withPart(() => import('./player.ts'), use);
}
