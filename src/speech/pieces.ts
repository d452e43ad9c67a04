/** Characters of the first piece: what comes first shall be heard soon. */
const FIRST = 120;
/** Characters of the others. A piece is computed in one go, some tenths of a second, while others wait. */
const NEXT = 240;

/** After these a full stop ends no sentence. */
const ABBREVIATION =
  /(?:^|[\s(])(?:[A-Za-z]|Dr|Mr|Mrs|Ms|Prof|St|Jr|Sr|vs|etc|e\.g|i\.e|approx|Inc|Ltd|Co|No|Fig)\.\s*$/;
const LONGEST_ABBREVIATION = 12;

/**
 * Splits a text into the pieces that are spoken one after the other: whole sentences, several short ones together, and
 * long ones at a comma or space. No piece is without a letter or digit.
 */
export function toPieces(text: string): readonly string[] {
  const pieces: string[] = [];
  let piece = '';
  for (const part of sentences(text).flatMap(cut)) {
    const limit = pieces.length === 0 ? FIRST : NEXT;
    if (piece !== '' && piece.length + 1 + part.length > limit) {
      pieces.push(piece);
      piece = '';
    }
    piece = piece === '' ? part : `${piece} ${part}`;
  }
  if (piece !== '') pieces.push(piece);
  return pieces.filter((each) => /[A-Za-z0-9]/.test(each));
}

function sentences(text: string): string[] {
  const found: string[] = [];
  let open = '';
  for (const { segment } of new Intl.Segmenter('en', { granularity: 'sentence' }).segment(text)) {
    open += segment;
    if (ABBREVIATION.test(open.slice(-LONGEST_ABBREVIATION))) continue;
    found.push(ended(open));
    open = '';
  }
  found.push(ended(open));
  return found.filter((sentence) => sentence !== '');
}

/** A line without a full stop, such as a heading, is a sentence too. */
function ended(sentence: string): string {
  const trimmed = sentence.trim();
  return sentence.endsWith('\n') && /[A-Za-z0-9)"']$/.test(trimmed) ? `${trimmed}.` : trimmed;
}

/** A sentence in parts of at most `NEXT` characters, split where a pause does least harm. */
function cut(sentence: string): string[] {
  const parts: string[] = [];
  let rest = sentence;
  while (rest.length > NEXT) {
    const window = rest.slice(0, NEXT);
    const comma = Math.max(window.lastIndexOf(', '), window.lastIndexOf('; '), window.lastIndexOf(': ')) + 1;
    const space = window.lastIndexOf(' ');
    const at = comma > NEXT / 4 ? comma : space > 0 ? space : NEXT;
    parts.push(rest.slice(0, at).trim());
    rest = rest.slice(at).trim();
  }
  parts.push(rest);
  return parts.filter((part) => part !== '');
}
