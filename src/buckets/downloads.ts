import { SluiceError, toSluiceError } from '../core/errors.ts';
import { parseJson } from '../core/objects.ts';

/** An uploaded file of this name is a list of addresses to read, not a document. */
export const DOWNLOADS = 'downloads.json';
/** Addresses that one list may hold; the others are refused. */
const MOST = 10;
/** Characters of an address. */
const LONGEST = 2_048;

/** Fetches pages from the public Internet and reads their main text; see `outbound/pages.ts`. */
export interface PageReader {
  read(
    address: string,
    options: { readonly signal: AbortSignal },
  ): Promise<{ readonly url: string; readonly title: string; readonly text: string }>;
}

/** A page as the text of a bucket. */
export interface Downloaded {
  readonly name: string;
  readonly text: string;
}

/**
 * The addresses of `[{"url": …}, {"urls": […]}]`, each once; what else stands in the list is passed over. Undefined when the
 * text is no such list: nothing in it is an address.
 */
export function addressesOf(text: string): readonly string[] | undefined {
  const list = parseJson(text);
  if (!Array.isArray(list)) return undefined;
  const addresses = list
    .flatMap((entry: { readonly url?: unknown; readonly urls?: unknown } | null) => [entry?.url, entry?.urls])
    .flat()
    .filter((address) => typeof address === 'string')
    .map((address) => address.trim());
  return addresses.length === 0 ? undefined : [...new Set(addresses)];
}

/**
 * Reads the pages of a list at the same time; `onCount` is told how many are there. A page that cannot be had is
 * `rejected`, with the reason. Throws only when `signal` aborts.
 */
export async function download(
  addresses: readonly string[],
  pages: PageReader,
  signal: AbortSignal,
  onCount: (count: number) => void,
): Promise<{
  readonly downloaded: readonly Downloaded[];
  readonly rejected: readonly { readonly name: string; readonly reason: string }[];
}> {
  const rejected: { name: string; reason: string }[] = [];
  let count = 0;
  const read = await Promise.all(
    addresses.slice(0, MOST).map(async (address) => {
      try {
        if (address.length > LONGEST) throw new SluiceError('invalid_request', 'The address is too long.');
        const { url, title, text } = await pages.read(address, { signal });
        count += 1;
        onCount(count);
        return { address, page: { name: pageName(url), text: pageText(url, title, text) } };
      } catch (error) {
        signal.throwIfAborted();
        return { address, reason: toSluiceError(error).message };
      }
    }),
  );
  const downloaded: Downloaded[] = [];
  for (const { address, page, reason } of read) {
    if (page !== undefined) downloaded.push(page);
    else rejected.push({ name: address.slice(0, 255), reason });
  }
  for (const address of addresses.slice(MOST)) {
    rejected.push({ name: address.slice(0, 255), reason: `only ${MOST} addresses are read at once` });
  }
  return { downloaded, rejected };
}

/** `<host>+<path with _>.md`; the caller cleans it further, as every name. */
function pageName(url: string): string {
  const { host, pathname } = new URL(url);
  const path = pathname.split('/').filter((segment) => segment !== '');
  return `${[host, ...(path.length === 0 ? [] : [path.join('_')])].join('+')}.md`;
}

function pageText(url: string, title: string, text: string): string {
  const head = title === '' || text.startsWith('# ') ? '' : `# ${title}\n\n`;
  return `${head}${text.trim()}\n\nSource: ${url}\n`;
}
