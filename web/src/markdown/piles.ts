/** More marks on one letter than any script has: browsers take a time for them that grows with their square. */
const PILE = /(\p{M}{24})\p{M}+/gu;

/** A text whose letters carry only so many combining marks as can be drawn. */
export function withoutPiles(text: string): string {
  return text.replace(PILE, '$1');
}

/** Whether `withoutPiles` takes anything away. */
export function hasPiles(text: string): boolean {
  return /\p{M}{25}/u.test(text);
}
