import { SluiceError } from '../../core/errors.ts';
import { cookieFiles, keepCookies, readCookies } from '../cookies.ts';
import type { Deps, Handler } from '../deps.ts';

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
        : `File saved: ${cookies.length === 1 ? 'one cookie' : `${cookies.length} cookies`} of ${domains.length === 1 ? 'one domain' : `${domains.length} domains`}`;
    return { message, filename };
  };
}
