/** Input samples on each side of an output sample that have a say in it. */
const REACH = 16;

/**
 * Raises the number of samples a second by `up / down`, piece by piece and without a seam: a windowed sinc as a
 * polyphase filter (Crochiere and Rabiner, "Multirate Digital Signal Processing", chapter 2).
 */
export class Upsampler {
  readonly #up: number;
  readonly #down: number;
  /** For each of the `up` positions between two input samples, the weights of the `2 * REACH` input samples around it. */
  readonly #weights: readonly Float64Array[];
  /** Input samples that later output still needs. */
  #held: Float32Array = new Float32Array(REACH - 1);
  /** Where the next output sample stands, in steps of 1 / up input samples, counted from the middle of what is held. */
  #position = 0;

  constructor(up: number, down: number) {
    this.#up = up;
    this.#down = down;
    this.#weights = Array.from({ length: up }, (_, phase) => weightsAt(phase / up));
  }

  /** The output that has all it needs; with `isLast` everything that is left. */
  push(samples: Float32Array, isLast: boolean): Float32Array {
    const tail = isLast ? REACH : 0;
    const input = new Float32Array(this.#held.length + samples.length + tail);
    input.set(this.#held);
    input.set(samples, this.#held.length);
    // `input[index + REACH - 1]` is the sample at or before the output; REACH more must follow it.
    const usable = input.length - (2 * REACH - 1);
    const output = new Float32Array(Math.max(0, Math.ceil((usable * this.#up - this.#position) / this.#down)));
    for (let index = 0; index < output.length; index += 1) {
      const at = Math.floor(this.#position / this.#up);
      const weights = this.#weights[this.#position % this.#up] ?? new Float64Array();
      let sum = 0;
      for (let tap = 0; tap < weights.length; tap += 1) sum += (weights[tap] ?? 0) * (input[at + tap] ?? 0);
      output[index] = sum;
      this.#position += this.#down;
    }
    const used = Math.min(Math.floor(this.#position / this.#up), Math.max(0, usable));
    this.#position -= used * this.#up;
    this.#held = input.slice(used);
    return output;
  }
}

/** Weights for a point `fraction` of a sample after the middle one, with a Hann window; they add up to one. */
function weightsAt(fraction: number): Float64Array {
  const weights = Float64Array.from({ length: 2 * REACH }, (_, tap) => {
    const distance = tap - (REACH - 1) - fraction;
    const sinc = distance === 0 ? 1 : Math.sin(Math.PI * distance) / (Math.PI * distance);
    return sinc * 0.5 * (1 + Math.cos((Math.PI * distance) / REACH));
  });
  const sum = weights.reduce((total, weight) => total + weight, 0);
  return weights.map((weight) => weight / sum);
}
