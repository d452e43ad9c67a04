import { SluiceError } from '../../core/errors.ts';
import { cookieFiles, keepCookies, readCookies, wanted } from '../cookies.ts';
import type { Deps, Handler } from '../deps.ts';

/** Domains that an answer names. */
const MOST_NAMED = 5;

/** `POST upload_cookies`: one file with cookies of a browser. */
export function uploadCookies(deps: Deps): Handler {
  return async (request) => {
    const [file, ...others] = await cookieFiles(request, deps, 'file');
    if (file === undefined || others.length > 0) {
      throw new SluiceError('invalid_request', "The form needs exactly one part 'file' with a file.", {
        param: 'file',
      });
    }
    const { filename, cookies } = readCookies(file, deps);
    const domains = await keepCookies([{ filename, cookies }], request, deps);
    const message =
      cookies.length === 0
        ? 'File read, but it holds no cookies of a domain that a provider here is configured for'
        : `File saved: ${cookies.length === 1 ? 'one cookie' : `${cookies.length} cookies`} of ${domains.length === 1 ? 'one domain' : `${domains.length} domains`}${unusedOf(domains, deps)}`;
    return { message, filename };
  };
}

/** Says which of them no provider is configured for, if there are any. */
function unusedOf(domains: readonly string[], deps: Deps): string {
  const isWanted = wanted(deps);
  const unused = domains.filter((domain) => !isWanted(domain));
  if (unused.length === 0) return '';
  const more = unused.length > MOST_NAMED ? ` and ${unused.length - MOST_NAMED} more` : '';
  return `; no provider here is configured for ${unused.slice(0, MOST_NAMED).join(', ')}${more}`;
}
