/** A look at the gateway's process, right after all its garbage was collected. */
export interface Sample {
  /** Since the load began. */
  readonly seconds: number;
  /** Of the heap and of the buffers that hang on it. */
  readonly usedMiB: number;
  readonly residentMiB: number;
  /** Resident at its highest so far, collected or not. */
  readonly highestMiB: number;
  readonly descriptors: number;
}

/** What happened to one kind of request. */
export interface Tally {
  asked: number;
  /** Answered whole, as was to be. */
  answered: number;
  /** Failed, and that was injected. */
  failed: number;
  /** Something else: each is a finding. */
  unexpected: number;
  /** Came to no end, which is a finding too. */
  hung: number;
}

/** What was seen of a soak, all that a verdict rests on. */
export interface Run {
  readonly samples: readonly Sample[];
  /** Until then caches fill and code is compiled: nothing is concluded from it. */
  readonly warmUpSeconds: number;
  readonly tallies: ReadonlyMap<string, Tally>;
  /** Code or signal with which the gateway ended by itself. */
  readonly crashed: string | undefined;
  /** Before the first request, and after the last one when nothing was under way any more. */
  readonly descriptors: { readonly before: number; readonly after: number };
  /** Answers of the upstream that nobody reads any more and that are still open. */
  readonly leftOpen: number;
}

/**
 * How far a fitted line may rise over the whole time of measuring. What is in use grows by 1 MiB in minutes, until all code is
 * compiled and all rings are full, and does not jump; resident memory goes up and down by 80 MiB with what allocators keep.
 */
const USED_MIB = 8;
const MEMORY_MIB = 32;
const MEMORY_SHARE = 0.15;
const DESCRIPTORS = 16;

/** What is wrong, in sentences; nothing when it holds. */
export function findings(run: Run): string[] {
  const found: string[] = [];
  if (run.crashed !== undefined) found.push(`the gateway ended by itself: ${run.crashed}`);
  for (const [name, { asked, unexpected, hung }] of run.tallies) {
    if (unexpected > 0) found.push(`${name}: ${unexpected} of ${asked} went another way than what was injected`);
    if (hung > 0) found.push(`${name}: ${hung} of ${asked} came to no end`);
    if (asked === 0) found.push(`${name}: was never asked`);
  }
  const measured = run.samples.filter(({ seconds }) => seconds >= run.warmUpSeconds);
  if (measured.length < 10) found.push(`only ${measured.length} looks at the process after the warm-up`);
  const used = rise(measured, 'usedMiB');
  if (used.rise > USED_MIB)
    found.push(`memory in use rose by ${used.rise.toFixed(1)} MiB after the warm-up, more than ${USED_MIB}`);
  const memory = rise(measured, 'residentMiB');
  const mayRise = Math.max(MEMORY_MIB, MEMORY_SHARE * memory.middle);
  if (memory.rise > mayRise)
    found.push(`memory rose by ${memory.rise.toFixed(0)} MiB after the warm-up, more than ${mayRise.toFixed(0)}`);
  const descriptors = rise(measured, 'descriptors');
  if (descriptors.rise > DESCRIPTORS)
    found.push(`descriptors rose by ${descriptors.rise.toFixed(0)} under the same load, more than ${DESCRIPTORS}`);
  const { before, after } = run.descriptors;
  if (after > before + DESCRIPTORS) found.push(`${after} descriptors are open when all is over, ${before} were before`);
  if (run.leftOpen > 0) found.push(`${run.leftOpen} answers of the upstream are still open`);
  return found;
}

/**
 * The line through the samples by the median of all slopes (Theil and Sen), which single peaks do not move: how far it
 * rises from the first to the last sample, and the median itself.
 */
function rise(
  samples: readonly Sample[],
  metric: 'usedMiB' | 'residentMiB' | 'descriptors',
): { readonly rise: number; readonly middle: number } {
  const slopes: number[] = [];
  for (const [index, first] of samples.entries()) {
    for (const second of samples.slice(index + 1)) {
      slopes.push((second[metric] - first[metric]) / (second.seconds - first.seconds));
    }
  }
  const seconds = (samples.at(-1)?.seconds ?? 0) - (samples[0]?.seconds ?? 0);
  return { rise: median(slopes) * seconds, middle: median(samples.map((sample) => sample[metric])) };
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[numbers.length >> 1] ?? 0;
}
