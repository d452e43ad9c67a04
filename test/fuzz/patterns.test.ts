import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { checkSync } from 'recheck';
import { parseAst } from 'vite';

/**
 * Regular expressions that take the square of a text's length, or worse, can be stopped by nothing: one such text of a client,
 * an upstream or a model stands everything still. Every pattern of the source is looked at by a program that searches for such
 * texts. It takes a minute and a half, so it is part of `npm run test:fuzz` alone.
 */

/** Milliseconds for one pattern; what it has not found out by then counts as nothing found. */
const PATIENCE = 3_000;

/** Files and patterns that may take long, and why it does no harm: `path` or `path: pattern`. */
const HARMLESS: Readonly<Record<string, string>> = {
  'src/documents/pdf/code.ts': 'five characters',
  'src/config/interpolate.ts': 'texts of the operator’s own file',
  'src/providers/openai/capabilities.ts': 'names of models, which are short',
  'web/src/markdown/diagrams/': 'in a worker that is ended when it takes too long',
  'web/src/markdown/guards.ts': 'texts of a length that was looked at before',
  'web/src/markdown/hold.ts': 'lines of less than 300 characters',
  'web/src/state/prompts.ts': 'prompts that the reader has written',
  'web/src/views/aloud/sentences.ts': 'formulas and comments of at most 4,000 characters',
};

// Its other forms are programs of Java and of single systems, which are not installed.
process.env['RECHECK_BACKEND'] = 'pure';

const root = fileURLToPath(new URL('../../', import.meta.url));
const isLong = process.env['FUZZ_SEED'] !== undefined;

interface Pattern {
  readonly source: string;
  readonly flags: string;
}

function patternsOf(file: string): readonly Pattern[] {
  const found: Pattern[] = [];
  const look = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    if ('regex' in node) {
      const { pattern, flags } = node.regex as { pattern: string; flags: string };
      found.push({ source: pattern, flags });
    }
    Object.values(node).forEach(look);
  };
  look(parseAst(readFileSync(`${root}${file}`, 'utf8'), { lang: file.endsWith('x') ? 'tsx' : 'ts' }, file));
  return found;
}

function complexityOf({ source, flags }: Pattern): string | undefined {
  const found = checkSync(source, flags, { timeout: PATIENCE });
  if (found.status !== 'vulnerable') return undefined;
  const isTrial = found.checker === 'fuzz' && found.complexity.type === 'polynomial';
  return isTrial && !isSlow(new RegExp(source, flags), found.attack) ? undefined : found.complexity.summary;
}

/**
 * Whether a text that was found by trial takes long. The program that tries texts goes by its own clock, too, and on a busy
 * machine it takes patterns for slow that are not. 100,000 characters take far less than a millisecond where time grows with
 * them, and seconds where it grows with their square.
 */
function isSlow(pattern: RegExp, { pumps, suffix }: Attack, length = 100_000): boolean {
  const count = length / pumps.reduce((sum, { pump }) => sum + pump.length, 0);
  const text = pumps.map(({ prefix, pump }) => prefix + pump.repeat(count)).join('') + suffix;
  const took = Array.from({ length: 3 }, () => {
    const begin = performance.now();
    pattern.lastIndex = 0;
    pattern.exec(text);
    return performance.now() - begin;
  });
  return Math.min(...took) > 100;
}

interface Attack {
  readonly pumps: readonly { readonly prefix: string; readonly pump: string }[];
  readonly suffix: string;
}

/** Texts that took long once, which the program finds by chance alone. */
const FOUND: Readonly<Record<string, Attack>> = {
  'src/documents/office/office.ts': { pumps: [{ prefix: '', pump: '<w:r><w:rPr>' }], suffix: '' },
};

describe('regular expressions', { skip: isLong ? false : 'a part of `npm run test:fuzz`' }, () => {
  test('the program finds what it is there for', () => {
    assert.equal(complexityOf({ source: '^data:([^;,]*)[^,]*,(.*)$', flags: 's' }), '2nd degree polynomial');
    assert.equal(complexityOf({ source: '\\s*\\n(?!x)', flags: '' }), '2nd degree polynomial (fuzz)');
    assert.equal(complexityOf({ source: '(?<!\\s)\\s*\\n', flags: 'g' }), undefined);
    const { source, flags } = /(?:^|[^0-9.])(\d+(?:\.\d+)?b)(?!b)/;
    assert.equal(isSlow(new RegExp(source, flags), { pumps: [{ prefix: ' ', pump: '1' }], suffix: '' }), false);
  });

  for (const [file, attack] of Object.entries(FOUND)) {
    test(`${file}, for a text that took long once`, () => {
      const slow = patternsOf(file).filter(({ source, flags }) => isSlow(new RegExp(source, flags), attack, 1_000_000));
      assert.deepEqual(slow, []);
    });
  }

  const files = globSync(['src/**/*.ts', 'web/src/**/*.{ts,tsx}'], { cwd: root })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => !file.includes('.test.') && !Object.keys(HARMLESS).some((path) => file.startsWith(path)))
    .toSorted();
  for (const file of files) {
    const patterns = patternsOf(file);
    if (patterns.length === 0) continue;
    test(file, () => {
      for (const pattern of patterns) {
        assert.equal(complexityOf(pattern), undefined, `/${pattern.source}/${pattern.flags}`);
      }
    });
  }
});
