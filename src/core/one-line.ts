/** A text of several lines on one, for terminals, logs and messages that have no more room. */
export function oneLine(text: string): string {
  return text.replaceAll(/(?<!\s)\s*\n\s*/g, ' ').trim();
}
