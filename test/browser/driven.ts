/** A browser other than Chromium, as its users have it, with one page. */
export interface Driven {
  readonly page: DrivenPage;
  /** What the page has complained about, or thrown. */
  complaints(): Promise<readonly string[]>;
  close(): Promise<void>;
}

export interface DrivenPage {
  goTo(address: string): Promise<void>;
  reload(): Promise<void>;
  /** What an expression gives, as JSON; of a promise what it comes to. */
  evaluate<Value>(expression: string): Promise<Value>;
  /** Presses keys one after the other: letters, and those that have names. */
  press(...keys: readonly (KeyName | (string & {}))[]): Promise<void>;
  /** Chooses a file of this machine in a field for files. */
  choose(selector: string, file: string): Promise<void>;
}

export type Json = Readonly<Record<string, unknown>>;

/** Keys without a character, as WebDriver names them (https://www.w3.org/TR/webdriver2/#keyboard-actions). */
const KEYS = { Enter: '\uE007', Escape: '\uE00C' } as const;
export type KeyName = keyof typeof KEYS;

/** The actions of WebDriver that press these keys one after the other. */
export function pressing(keys: readonly string[]): readonly Json[] {
  const values = keys.map((key) => (key in KEYS ? KEYS[key as KeyName] : key));
  const actions = values.flatMap((value) => ['keyDown', 'keyUp'].map((type) => ({ type, value })));
  return [{ type: 'key', id: 'keyboard', actions }];
}
