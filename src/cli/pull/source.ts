import { decoded } from '../../core/decoded.ts';
import { EXIT_USAGE, Failure } from '../failure.ts';

/** Where a model is. */
export interface Source {
  readonly url: URL;
  /** What it is called in the models folder. */
  readonly file: string;
}

/** Small instruct models that answer well for their size, under short names: makers, folders and files of Hugging Face. */
const KNOWN: Readonly<Record<string, string>> = {
  'qwen3-0.6b': 'Qwen/Qwen3-0.6B-GGUF/Qwen3-0.6B-Q8_0.gguf',
  'smollm2-360m': 'HuggingFaceTB/SmolLM2-360M-Instruct-GGUF/smollm2-360m-instruct-q8_0.gguf',
};

/** The one origin that gets a token. */
export const HUGGING_FACE = 'https://huggingface.co';

/** What can be asked for, in words for a complaint. */
const FORMS = `${Object.keys(KNOWN).join(', ')}, maker/folder/file.gguf of Hugging Face, or the address of a .gguf file`;

const ON_HUGGING_FACE = /^[\w.-]+\/[\w.-]+\/[\w./-]+\.gguf$/;
/** The first of several files that are one model, and the number of all. */
const FIRST_PART = /-(0*1)-of-(\d+)\.gguf$/i;
const MOST_PARTS = 100;
// Also what no file system takes, and what would be hidden.
const FILE = /^[\w+=@-][\w.+=@ ()-]{0,200}\.gguf$/i;

/** All files of what somebody asks for by a short name, a place on Hugging Face or an address. Throws `Failure` for anything else. */
export function sourcesOf(wish: string): readonly Source[] {
  const url = addressOf(KNOWN[wish.toLowerCase()] ?? wish);
  const file = url === undefined ? undefined : fileOf(url);
  if (url === undefined || file === undefined)
    throw new Failure(`'${wish}' names no model; allowed: ${FORMS}`, EXIT_USAGE);
  const [ending, first = '', count = ''] = FIRST_PART.exec(file) ?? [];
  if (ending === undefined || Number(count) > MOST_PARTS) return [{ url, file }];
  return Array.from({ length: Number(count) }, (_, index) => {
    const part = `-${String(index + 1).padStart(first.length, '0')}-of-${count}.gguf`;
    const path = url.pathname.slice(0, -ending.length) + part;
    return { url: new URL(path + url.search, url), file: file.slice(0, -ending.length) + part };
  });
}

function addressOf(wish: string): URL | undefined {
  if (ON_HUGGING_FACE.test(wish)) {
    const [maker, folder, ...file] = wish.split('/');
    return new URL(`${HUGGING_FACE}/${maker}/${folder}/resolve/main/${file.join('/')}`);
  }
  const url = URL.parse(wish);
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') return undefined;
  // The address of the page that shows a file, as the browser has it.
  if (url.origin === HUGGING_FACE) url.pathname = url.pathname.replace(/^(\/[^/]+\/[^/]+)\/blob\//, '$1/resolve/');
  url.hash = '';
  return url;
}

function fileOf({ pathname }: URL): string | undefined {
  const name = decoded(pathname.split('/').at(-1) ?? '');
  return FILE.test(name) ? name : undefined;
}
