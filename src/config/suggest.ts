/** The candidate that was probably meant by a mistyped word; undefined when none is near enough. */
export function suggest(word: string, candidates: Iterable<string>): string | undefined {
  const typed = word.toLowerCase();
  // Two slips in a word of medium length, one in a short one.
  let nearest = Math.min(2, Math.floor(typed.length / 3)) + 1;
  let found: string | undefined;
  for (const candidate of candidates) {
    const distance = distanceBetween(typed, candidate.toLowerCase());
    if (distance < nearest) {
      nearest = distance;
      found = candidate;
    }
  }
  return found;
}

/** Damerau-Levenshtein with swaps of neighbours: additions, losses, replacements and swaps cost 1 each. */
function distanceBetween(from: string, to: string): number {
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= to.length; j += 1) {
      const same = from[i - 1] === to[j - 1];
      let cost = Math.min(at(previous, j) + 1, at(row, j - 1) + 1, at(previous, j - 1) + (same ? 0 : 1));
      const swapped = from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1];
      if (swapped && i > 1 && j > 1) cost = Math.min(cost, at(beforePrevious, j - 2) + 1);
      row.push(cost);
    }
    beforePrevious = previous;
    previous = row;
  }
  return at(previous, to.length);
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY;
}
