import { parentPort } from 'node:worker_threads';
import type { SpeechEncoder } from './encoder.ts';
import { encoders } from './encoders.ts';
import { FLITE_RATE, Flite } from './flite.ts';
import { fromBytes } from './plain.ts';
import type { FromSpeaker, SpeechPiece, ToSpeaker } from './protocol.ts';

/**
 * The thread that speaks: synthesis and encoding are computations without a pause, which would hold up every request of
 * the gateway. It ends with the gateway, or when it was idle for a while.
 */

const open = new Map<number, SpeechEncoder>();
let flite: Flite | undefined;
let last: Promise<void> = Promise.resolve();

parentPort?.on('message', (message: ToSpeaker) => {
  // One after the other, although some steps are asynchronous.
  last = last.then(() => receive(message));
});

async function receive(message: ToSpeaker): Promise<void> {
  if (message.type === 'close') {
    close(message.id);
    return;
  }
  try {
    const bytes = await speak(message);
    // A buffer of its own, so that it can be handed over instead of copied.
    const own = new Uint8Array(bytes);
    send({ type: 'bytes', id: message.id, bytes: own }, [own.buffer]);
  } catch (error) {
    close(message.id);
    send({ type: 'failed', id: message.id, reason: error instanceof Error ? (error.stack ?? '') : String(error) });
  }
}

async function speak({ id, piece, format, isLast }: ToSpeaker & { type: 'piece' }): Promise<Uint8Array> {
  const { samples, rate } = await soundOf(piece);
  let encoder = open.get(id);
  if (encoder === undefined) {
    encoder = await encoders[format](rate);
    open.set(id, encoder);
  }
  const bytes = encoder.encode(samples, isLast);
  if (isLast) close(id);
  return bytes;
}

async function soundOf(piece: SpeechPiece): Promise<{ readonly samples: Float32Array; readonly rate: number }> {
  if ('samples' in piece) return { samples: fromBytes(piece.samples), rate: piece.rate };
  flite ??= await Flite.load();
  return { samples: await flite.say(piece.text, piece.voice, piece.stretch), rate: FLITE_RATE };
}

function close(id: number): void {
  open.get(id)?.close();
  open.delete(id);
}

function send(message: FromSpeaker, transfer: ArrayBuffer[] = []): void {
  parentPort?.postMessage(message, transfer);
}
