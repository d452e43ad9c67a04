/** good: as it should be; note: worth knowing; wrong: something does not work. */
export type Mark = 'good' | 'note' | 'wrong';

/** One thing that `doctor` found out. */
export interface Finding {
  readonly mark: Mark;
  readonly text: string;
  /** What to do about it. */
  readonly mend?: string;
}

/** What was found out of one kind; shown under its title. */
export interface Section {
  readonly title: string;
  readonly findings: readonly Finding[];
}

/** It is as it should be. */
export const good = (text: string): Finding => ({ mark: 'good', text });
/** Worth knowing; `mend` where something may be done about it. */
export const note = (text: string, mend?: string): Finding => finding('note', text, mend);
/** Something does not work; `mend` says what to do about it. */
export const wrong = (text: string, mend?: string): Finding => finding('wrong', text, mend);

function finding(mark: Mark, text: string, mend: string | undefined): Finding {
  return mend === undefined ? { mark, text } : { mark, text, mend };
}
