/** The answers that were asked for in this tab: whoever asks wants to see what comes, wherever they read before. */
const asked = new Set<string>();

/** `answer`: the id of its message. */
export function noteAsked(answer: string): void {
  asked.add(answer);
}

/** Undefined: there is no answer. */
export function isAskedHere(answer: string | undefined): boolean {
  return answer !== undefined && asked.has(answer);
}
