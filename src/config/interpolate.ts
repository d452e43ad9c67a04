import { type Environment, variable } from './paths.ts';
import type { Path, Problem } from './problems.ts';

const REFERENCE = /\$\{([^}]*)\}/g;
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** A whole text that means a variable in LiteLLM, in OpenCode or in a shell, where it would become a key that every upstream refuses. */
const FOREIGN_REFERENCE = /^(?:os\.environ\/|\{env:|\$(?=[A-Z0-9]+_[A-Z0-9_]*$))([A-Za-z_][A-Za-z0-9_]*)\}?$/;

/** Deeper than any configuration; a YAML alias inside its own anchor would go on for ever. */
const DEEPEST = 20;

/** A copy of `tree` in which every `${NAME}` of a text is the environment's value, and what could not be taken over. */
export function interpolate(tree: unknown, environment: Environment): { value: unknown; unresolved: Problem[] } {
  const unresolved: Problem[] = [];
  let endless = false;

  function copy(value: unknown, path: Path): unknown {
    if (typeof value === 'string') return fillIn(value, environment, (message) => unresolved.push({ path, message }));
    if (typeof value !== 'object' || value === null) return value;
    // Once is enough: with two aliases in their own anchor there would be a million such places.
    if (endless) return undefined;
    if (path.length === DEEPEST) {
      endless = true;
      unresolved.push({ path: path.slice(0, 1), message: `is nested deeper than ${DEEPEST} levels` });
      return undefined;
    }
    if (Array.isArray(value)) return value.map((member, index) => copy(member, [...path, index]));
    return Object.fromEntries(
      Object.entries(value).flatMap(([key, member]) => {
        const place = [...path, key];
        if (key !== '__proto__') return [[key, copy(member, place)]];
        // Maps of free names would pass over it without a word, for it is no name of a member in JavaScript.
        unresolved.push({ path: place, message: `"${key}" is no possible name; choose another one` });
        return [];
      }),
    );
  }

  return { value: copy(tree, []), unresolved };
}

/** Replaces every `${NAME}`; what cannot be replaced is reported and stays. */
export function fillIn(
  text: string,
  environment: Environment,
  report: (message: string) => void,
  otherwise = (_name: string) => 'write the value itself',
): string {
  const foreign = FOREIGN_REFERENCE.exec(text.trim())?.[1];
  if (foreign !== undefined) report(`an environment variable is written \${${foreign}} here`);
  return text.replace(REFERENCE, (reference, name: string) => {
    if (!NAME.test(name)) {
      // It is not shown: who takes the braces for quotes has put a key there.
      report('what stands in the braces does not name an environment variable; allowed: letters, digits and _');
      return reference;
    }
    const value = variable(environment, name);
    if (value !== undefined) return value;
    report(
      `the environment variable ${name} is ${Object.hasOwn(environment, name) && environment[name] !== undefined ? 'empty' : 'not set'}; set it, or ${otherwise(name)}`,
    );
    return reference;
  });
}

/** The variable that a text consists of: `NAME` for `${NAME}`. */
export function soleReference(text: unknown): string | undefined {
  const name = typeof text === 'string' ? /^\$\{([^}]*)\}$/.exec(text.trim())?.[1] : undefined;
  return name !== undefined && NAME.test(name) ? name : undefined;
}
