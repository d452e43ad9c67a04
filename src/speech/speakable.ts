/** Characters that have a plain equivalent which Unicode's decomposition does not know. */
const PLAIN: Readonly<Record<string, string>> = {
  '‘': "'",
  '’': "'",
  '‚': ',',
  '“': '"',
  '”': '"',
  '„': '"',
  '«': '"',
  '»': '"',
  '–': ', ',
  '—': ', ',
  '−': '-',
  '·': ' ',
  '•': ', ',
  '€': ' euros ',
  '£': ' pounds ',
  '¥': ' yen ',
  '°': ' degrees ',
  '×': ' times ',
  '÷': ' divided by ',
  '±': ' plus or minus ',
  '≈': ' about ',
  '→': ', ',
  '©': ' copyright ',
  '®': ' registered ',
  ß: 'ss',
  æ: 'ae',
  Æ: 'Ae',
  œ: 'oe',
  Œ: 'Oe',
  ø: 'o',
  Ø: 'O',
  ł: 'l',
  Ł: 'L',
  đ: 'd',
  Đ: 'D',
};

/**
 * A text as a voice for English can read it: ASCII, without what is markup rather than speech. Line ends stay, since
 * they end a sentence. Empty when nothing remains that can be said.
 */
export function speakable(text: string): string {
  const plain = text
    .replace(/[^\p{ASCII}]/gu, (character) => PLAIN[character] ?? character)
    // Letters without their accents, ligatures and wide letters as plain ones.
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .replace(/[^\x20-\x7e\n]+/g, ' ')
    // Rules and the lines of tables, then emphasis, headings, code and the rest of tables of markdown.
    .replace(/^[ |:=*_-]+$/gm, '')
    .replace(/[*_`#|~^\\<>{}[\]]+/g, ' ')
    .replace(/-{2,}|={2,}/g, ', ')
    // Once is enough to be heard, and the voice stumbles over long rows.
    .replace(/([^A-Za-z0-9\s])\1+/g, '$1')
    .replace(/[^\S\n]+/g, ' ')
    .replace(/(?<! ) +([,.;:!?])/g, '$1')
    .replace(/(?<![ \n]) *\n+ */g, '\n')
    .trim();
  return /[A-Za-z0-9]/.test(plain) ? plain : '';
}
