import type { MarkdownIt } from 'markdown-it';

const EAST_ASIAN =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Bopomofo}\u3001-\u303f\uff01-\uffee]/u;

/** Whether a character is of a script that is written without blanks between words, or a mark of punctuation of it. */
export function isEastAsian(character: string): boolean {
  return EAST_ASIAN.test(character);
}

/**
 * Lets `**「强调」**文字` be emphasis. CommonMark wants a blank beside marks that touch punctuation (§6.2), and those scripts
 * have none; so beside their characters only blanks count. Underscores stay as they are: they occur in names.
 */
export function withEastAsianEmphasis(grammar: MarkdownIt): void {
  const Usual = grammar.inline.State;
  grammar.inline.State = class extends Usual {
    override scanDelims(start: number, canSplitWord: boolean) {
      const usual = super.scanDelims(start, canSplitWord);
      const end = start + usual.length;
      const before = start === 0 ? ' ' : characterBefore(this.src, start);
      const after = end < this.posMax ? String.fromCodePoint(this.src.codePointAt(end) ?? 0x20) : ' ';
      if (!canSplitWord || !(isEastAsian(before) || isEastAsian(after))) return usual;
      return { ...usual, can_open: /\S/.test(after), can_close: /\S/.test(before) };
    }
  };
}

function characterBefore(text: string, at: number): string {
  const isSecondHalf = /[\udc00-\udfff]/.test(text[at - 1] ?? '');
  return text.slice(isSecondHalf ? at - 2 : at - 1, at);
}
