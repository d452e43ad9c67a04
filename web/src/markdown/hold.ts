/**
 * What the last line of a growing text could still become. A dash may be an item of a list, or underline a heading, or
 * begin a table: such a line waits for its next character instead of being all three in turn.
 */

/** A line of nothing but marks: of lists, quotes, headings, rules, fences, underlines, delimiters of tables. */
const MARKS_ONLY = /^[\s>]{0,100}(?:[-+*]\s{1,4})?(?:\d{1,9}[.)]?\s{0,4})?(?:\[[ xX]?\]?\s?)?[-+=_*~`:|#\s\\$[]*$/;
const DEFINITION = /^ {0,3}\[[^[\]]{1,200}\]:\s*$/;
const FENCE = /^([\s>]{0,100}(?:(?:[-+*]|\d{1,9}[.)])\s{1,4})?(?:`{3,}|~{3,}))[^`]*$/;
/** A line that makes an alert of a quote, or begins, names or ends a block that folds. */
const ALERT = /^ {0,3}>[ >]{0,10}\[(?:!\w{0,9}\]?)?[ \t]*$/;
const DETAILS = /^ {0,3}<\/?(?:details|summary)\b/i;
const TABLE_HEAD = /^ {0,3}\|[^|]/;

/** The text as it is shown for now. */
export function hold(text: string): string {
  const from = text.lastIndexOf('\n') + 1;
  const line = text.slice(from);
  let shown = text;
  if (line.length < 300 && line !== '') {
    const fence = FENCE.exec(line);
    // The language of a fence is a word only when its line is over.
    if (fence !== null) return text.slice(0, from) + (fence[1] ?? '');
    if ([MARKS_ONLY, DEFINITION, ALERT, DETAILS].some((form) => form.test(line))) shown = text.slice(0, from);
  }
  return withoutHead(shown);
}

/**
 * A line of cells that begins with `|` is most likely the head of a table. It waits for the row of delimiters below it, which
 * says where the words stand in their cells: shown before that, they would jump.
 */
function withoutHead(text: string): string {
  const whole = text.endsWith('\n') ? text.slice(0, -1) : text;
  const from = whole.lastIndexOf('\n') + 1;
  const line = whole.slice(from);
  const before = whole.slice(whole.lastIndexOf('\n', from - 2) + 1, Math.max(0, from - 1));
  if (line.length > 2_000 || before.trim() !== '' || !TABLE_HEAD.test(line)) return text;
  return whole.slice(0, from);
}
