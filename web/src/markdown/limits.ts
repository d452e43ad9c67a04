/**
 * Where a text stops being rendered in full. What a model writes is hostile input: each figure keeps one step of work on
 * the page's thread short, whatever stands in the text. Behind each there is a "show all" or the plain text.
 */
export const limits = {
  /** Characters of a message that are rendered; the rest waits behind a button. */
  text: 300_000,
  /** Characters of one block (an item of a list, a part of a quote) that are read as markdown; a longer one stays plain. */
  block: 40_000,
  /** Characters of one run of inline markup; a longer one stays plain. */
  inline: 10_000,
  /** Characters of plain text shown before "show all". */
  plain: 20_000,
  /** Rows of a table shown before "show all", and cells, for wide tables. */
  tableRows: 300,
  tableCells: 6_000,
  /** Columns; a wider table stays plain. */
  tableColumns: 64,
  /** Lists and quotes within each other; what is deeper stays plain. */
  nesting: 32,
  /** Emphasis within emphasis, likewise. */
  inlineNesting: 40,
  /** Formulas in one paragraph, which is laid out anew with each. */
  formulas: 200,
  /** Code shown before "show all", and code that is coloured: as a whole, and in its longest line. */
  codeLines: 1_500,
  codeCharacters: 150_000,
  highlight: 60_000,
  highlightLine: 5_000,
  /** Characters of a formula and of a diagram's description; longer ones are shown as their source. */
  maths: 3_000,
  diagram: 20_000,
  /** What is parsed in one go, in characters and lines, so that a long text at once makes many short tasks. */
  firstCharacters: 300,
  windowCharacters: 2_500,
  windowLines: 125,
} as const;
