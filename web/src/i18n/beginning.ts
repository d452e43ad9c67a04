/** The beginning of a text, of at most so many UTF-16 units. What people see as one character, as an emoji of several, is not cut. */
export function beginning(text: string, most: number): string {
  if (text.length <= most) return text;
  // What comes after the next code point makes no difference.
  const characters = new Intl.Segmenter(undefined, { granularity: 'grapheme' }).segment(text.slice(0, most + 2));
  // A single one may be longer than that.
  return text.slice(0, characters.containing(most)?.index || most);
}
