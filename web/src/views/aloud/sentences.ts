/** Characters that are asked for at once: the first words come soon, and few requests are needed. */
const SHORT = 40;
const LONG = 400;

/** What of an answer can be heard, in pieces of about a sentence. Code is for the eyes. */
export function sentencesOf(markdown: string, language: string): readonly string[] {
  const segmenter = new Intl.Segmenter(language, { granularity: 'sentence' });
  const sentences = plainLines(markdown).flatMap((line) => [...segmenter.segment(line)].map(({ segment }) => segment));
  const pieces: string[] = [];
  for (const sentence of sentences.map((each) => each.trim()).filter((each) => /[\p{L}\p{N}]/u.test(each))) {
    const last = pieces.at(-1);
    if (last !== undefined && last.length < SHORT) pieces[pieces.length - 1] = `${last} ${sentence}`;
    else pieces.push(sentence);
  }
  return pieces.flatMap(shortened);
}

function plainLines(markdown: string): readonly string[] {
  return (
    markdown
      // An open fence takes the rest, as in the rendered answer.
      .replace(/^ {0,3}(```|~~~)[\s\S]*?(^ {0,3}\1[^\n]*$|$(?![\s\S]))/gm, '\n')
      .replace(/\$\$[\s\S]{0,4000}?\$\$|\\\[[\s\S]{0,4000}?\\\]/g, '\n')
      .replace(/<(?:!--[\s\S]{0,4000}?--|\/?[a-zA-Z][^<>]*)>/g, '')
      // Numbers of footnotes, and what makes a quote an alert.
      .replace(/\[\^[a-z]{0,8}\d{1,3}\]:?/gi, '')
      .replace(/^( {0,3}> ?)\[!([a-z]{3,9})\]/gim, '$1$2')
      .replace(/!?\[([^[\]]*)\]\((?:[^()\s]|\([^()\s]*\))*(?:\s+"[^"]*")?\)/g, '$1')
      .replace(/https?:\/\/(?:www\.)?([^/\s)>\]]+)[^\s)>\]]*/g, '$1')
      .split('\n')
      .map(plainLine)
      .filter((line) => line !== '')
  );
}

function plainLine(line: string): string {
  // The line below the head of a table, and rulers.
  if (/^[\s|:*_-]+$/.test(line)) return '';
  const text = line
    .replace(/^\s*(?:>\s?)*(?:#{1,6}\s+|[-*+]\s+(?:\[[ xX]\]\s+)?|\d+[.)]\s+)?/, '')
    .replace(/(?<!\s)\s*\|\s*/g, ', ')
    .replace(/[*_~`]{1,3}(?=\S)|(?<=\S)[*_~`]{1,3}/g, '')
    .replace(/^[, ]+|(?<![, ])[, ]+$/g, '')
    .trim();
  // Headings and points have no stop at their end, but a pause belongs there.
  return /[\p{L}\p{N}]$/u.test(text) ? `${text}.` : text;
}

/** A sentence without end in pieces, at commas or at least between words. */
function shortened(sentence: string): readonly string[] {
  const pieces: string[] = [];
  let rest = sentence;
  while (rest.length > LONG) {
    const head = rest.slice(0, LONG);
    const comma = Math.max(...[', ', '; ', ': ', '，', '；', '、'].map((mark) => head.lastIndexOf(mark)));
    const space = head.lastIndexOf(' ');
    const at = comma > LONG / 3 ? comma + 1 : space > LONG / 3 ? space : LONG;
    pieces.push(rest.slice(0, at).trim());
    rest = rest.slice(at).trim();
  }
  return rest === '' ? pieces : [...pieces, rest];
}
