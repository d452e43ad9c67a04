import { cleanName, extensionOf } from '../../buckets/names.ts';
import { parseCookies } from '../../cookies/parse.ts';
import { SluiceError } from '../../core/errors.ts';
import type { Deps, Handler } from '../deps.ts';
import { readForm } from '../edge/form.ts';

const EXTENSIONS: ReadonlySet<string> = new Set(['.json', '.har']);

/**
 * `POST upload_cookies`: cookies of a browser for the providers whose configuration names their domain, effective at once.
 * What was stored can be replaced but never read again.
 */
export function uploadCookies(deps: Deps): Handler {
  return async (request) => {
    const { limits } = deps.config();
    const form = await readForm(
      request.raw,
      {
        ...limits,
        uploadFileBytes: limits.cookieFileBytes,
        uploadRequestBytes: limits.cookieFileBytes + 64 * 1024,
        fieldBytes: 1_024,
      },
      deps.deadlines,
    );
    const files = form.files.filter((file) => file.name === 'file');
    const [file] = files;
    if (file === undefined || files.length > 1) {
      throw new SluiceError('invalid_request', "The form needs exactly one part 'file' with a file.", {
        param: 'file',
      });
    }
    const filename = cleanName(file.filename);
    if (filename === undefined || !EXTENSIONS.has(extensionOf(filename))) {
      throw new SluiceError('invalid_request', "The file's name must end in .json or .har.", { param: 'file' });
    }
    const { kind, cookies } = parseCookies(file.bytes.toString('utf8'));
    // A recording holds cookies of every site that was open; only those that somebody here asks for are kept.
    const wanted =
      kind === 'har'
        ? cookies.filter(({ domain }) => deps.cookieDomains().some((own) => belongs(own, domain)))
        : cookies;
    const domains = await deps.cookies.put(wanted);
    await deps.onCookies();
    deps.log.info({ id: request.id, domains, count: wanted.length }, 'cookies were uploaded');
    const message =
      wanted.length === 0
        ? 'File read, but it holds no cookies of a domain that a provider here is configured for'
        : `File saved: ${wanted.length} cookies of ${domains.length === 1 ? 'one domain' : `${domains.length} domains`}`;
    return { message, filename };
  };
}

function belongs(host: string, domain: string): boolean {
  return host === domain || host.endsWith(`.${domain}`) || domain.endsWith(`.${host}`);
}
