/**
 * Thoughts of an answer as the one text that most dialects have for them. Vendors think in blocks (parts of a summary, signed
 * thoughts), each with a heading often; the next one begins with a blank line.
 */
export class JoinedThoughts {
  #hasText = false;
  #isOver = false;

  /**
   * What `text` adds.
   *
   * @param isLast whether its block ends with it
   */
  add(text: string, isLast: boolean): string {
    const isNext = this.#isOver && this.#hasText && text !== '';
    if (text !== '') {
      this.#hasText = true;
      this.#isOver = false;
    }
    if (isLast) this.#isOver = true;
    return isNext ? `\n\n${text}` : text;
  }
}
