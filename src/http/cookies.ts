import type { FastifyRequest } from 'fastify';
import { cleanName, extensionOf } from '../buckets/names.ts';
import { type BrowserCookie, parseCookies } from '../cookies/parse.ts';
import { SluiceError } from '../core/errors.ts';
import type { Deps } from './deps.ts';
import { type FormFile, readForm } from './edge/form.ts';

const EXTENSIONS: ReadonlySet<string> = new Set(['.json', '.har']);

/** What an uploaded file holds for the providers here. */
export interface CookieFile {
  readonly filename: string;
  readonly cookies: readonly BrowserCookie[];
}

/** The files in the parts of that name, all together no larger than one may be. */
export async function cookieFiles(
  request: FastifyRequest,
  deps: Deps,
  part: 'file' | 'files',
): Promise<readonly FormFile[]> {
  const { limits } = deps.config();
  const bounds = {
    ...limits,
    uploadFileBytes: limits.cookieFileBytes,
    uploadRequestBytes: limits.cookieFileBytes + 64 * 1024,
    fieldBytes: 1_024,
  };
  const { files } = await readForm(request.raw, bounds, deps);
  return files.filter(({ name }) => name === part);
}

/** Throws `invalid_request` for a name that ends in neither .json nor .har. */
export function readCookies({ name, filename: given, bytes }: FormFile, deps: Deps): CookieFile {
  const filename = cleanName(given);
  if (filename === undefined || !EXTENSIONS.has(extensionOf(filename))) {
    throw new SluiceError('invalid_request', "The file's name must end in .json or .har.", { param: name });
  }
  return { filename, cookies: parseCookies(bytes.toString('utf8'), wanted(deps)).cookies };
}

/** Tells of a domain whether a provider here is configured for it. */
export function wanted(deps: Deps): (domain: string) => boolean {
  const domains = deps.cookieDomains();
  return (domain) => domains.some((own) => belongs(own, domain));
}

/**
 * Cookies for the providers whose configuration names their domain, effective at once: a later file replaces what an earlier one
 * has of a domain. What was stored can be replaced but never read again. Returns the domains.
 */
export async function keepCookies(
  files: readonly CookieFile[],
  request: FastifyRequest,
  deps: Deps,
): Promise<readonly string[]> {
  const domains = new Set<string>();
  for (const { cookies } of files) for (const domain of await deps.cookies.put(cookies)) domains.add(domain);
  await deps.onCookies();
  const count = files.reduce((sum, { cookies }) => sum + cookies.length, 0);
  deps.log.info({ id: request.id, domains: [...domains], count }, 'cookies were uploaded');
  return [...domains];
}

function belongs(host: string, domain: string): boolean {
  return host === domain || host.endsWith(`.${domain}`) || domain.endsWith(`.${host}`);
}
