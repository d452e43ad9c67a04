/** What a database takes and gives. */
export type Value = string | number | null;

/** SQL and the values of its parameters, in their order. */
export interface Statement {
  readonly text: string;
  readonly values: readonly Value[];
}

/** Only what `sql` made may become part of other SQL; anything else that came from a client fails here. */
class Fragment implements Statement {
  readonly text: string;
  readonly values: readonly Value[];

  constructor(text: string, values: readonly Value[]) {
    this.text = text;
    this.values = values;
  }
}

/** SQL with values in their places: a value becomes a parameter, another `sql` becomes text. */
export function sql(strings: TemplateStringsArray, ...parts: readonly (Value | Statement)[]): Statement {
  let text = strings[0] ?? '';
  const values: Value[] = [];
  for (const [index, part] of parts.entries()) {
    if (part instanceof Fragment) {
      text += part.text;
      values.push(...part.values);
    } else {
      if (part !== null && typeof part === 'object') throw new TypeError('an object is no value for a database');
      text += '?';
      values.push(part);
    }
    text += strings[index + 1] ?? '';
  }
  return new Fragment(text, values);
}
