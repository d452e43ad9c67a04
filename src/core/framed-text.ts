/** The text of a file between a line that names it and one that ends it, as models get it. */
export function framed(name: string, text: string): string {
  return `<!-- File: ${name} -->\n${text}\n<!-- End -->\n\n`;
}
