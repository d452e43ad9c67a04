import { membersOf } from '../core/objects.ts';
import { Refusal } from './conversion.ts';
import { fence, tidy } from './markdown.ts';

/** The parts of a Jupyter notebook (nbformat 3 and 4) that are read; everything may be missing or of another type. */
type Json = { readonly [name: string]: unknown };

/** Cells in their order: text as it is, code fenced with the notebook's language, text outputs below their cell. */
export function notebookToMarkdown(text: string): string {
  const notebook = parse(text);
  const language = languageOf(notebook);
  const cells = list(notebook['cells'] ?? membersOf(list(notebook['worksheets'])[0])['cells']).map(membersOf);
  if (cells.length === 0 && notebook['nbformat'] === undefined) throw new Refusal('is not a Jupyter notebook');
  return tidy(cells.map((cell) => cellToMarkdown(cell, language)).join('\n\n'));
}

function cellToMarkdown(cell: Json, language: string): string {
  const source = joined(cell['source'] ?? cell['input']);
  switch (cell['cell_type']) {
    case 'markdown':
    case 'raw':
      return source;
    case 'heading': // nbformat 3
      return `${'#'.repeat(typeof cell['level'] === 'number' ? cell['level'] : 1)} ${source}`;
    case 'code': {
      const code = source.trim() === '' ? [] : [fence(source, language)];
      const outputs = list(cell['outputs']).map(membersOf).map(outputToMarkdown);
      return [...code, ...outputs].filter((part) => part !== '').join('\n\n');
    }
    default:
      return '';
  }
}

function outputToMarkdown(output: Json): string {
  if (output['output_type'] === 'error' || output['output_type'] === 'pyerr') {
    return asOutput(joined(output['traceback'], '\n') || `${output['ename']}: ${output['evalue']}`);
  }
  const data = membersOf(output['data']);
  if (data['text/markdown'] !== undefined) return joined(data['text/markdown']);
  const text = joined(output['text'] ?? data['text/plain']);
  if (text.trim() !== '') return asOutput(text);
  const tex = joined(data['text/latex']);
  if (tex.trim() !== '') return tex;
  const types = Object.keys(data);
  const type = types.find((each) => each.startsWith('image/')) ?? types[0];
  return type === undefined ? '' : `*(${type})*`;
}

function asOutput(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the colours of a terminal (ECMA-48 §5.4) begin with escape
  const plain = text.replace(/\x1b\[[0-9;?]*[ -/]*[@-~]/g, '');
  return fence(plain.split(/\r?\n/).map(lastWritten).join('\n'), 'text');
}

/** What is left of a line that was written over, as progress is. */
function lastWritten(line: string): string {
  return line.split('\r').findLast((written) => written !== '') ?? '';
}

function languageOf(notebook: Json): string {
  const metadata = membersOf(notebook['metadata']);
  const name = membersOf(metadata['language_info'])['name'] ?? membersOf(metadata['kernelspec'])['language'];
  return typeof name === 'string' ? name : 'python';
}

function parse(text: string): Json {
  try {
    return membersOf(JSON.parse(text));
  } catch {
    throw new Refusal('is not a Jupyter notebook: it is no JSON');
  }
}

/** Multi-line text is a string or an array of lines. */
function joined(value: unknown, between = ''): string {
  return Array.isArray(value) ? value.map(String).join(between) : typeof value === 'string' ? value : '';
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
