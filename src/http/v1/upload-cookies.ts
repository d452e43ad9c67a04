import { z } from 'zod';
import { SluiceError } from '../../core/errors.ts';
import { cookieFiles, keepCookies, readCookies } from '../cookies.ts';
import type { Deps, Handler } from '../deps.ts';

/** For the documents; any number of files. */
export const CookieFilesForm = {
  type: 'object',
  required: ['files'],
  properties: {
    files: {
      type: 'array',
      items: { type: 'string', contentMediaType: 'application/octet-stream' },
      description: 'JSON of a browser extension, or HAR recordings',
    },
  },
} as const;

/** The files that were read, by the names they came with. No cookie is ever shown again. */
export const CookieFilesAnswer = z.array(z.object({ filename: z.string() }));

/** `POST /v1/upload_cookies`: files with cookies of a browser. Either all are taken in or none. */
export function uploadCookieFiles(deps: Deps): Handler {
  return async (request) => {
    const files = await cookieFiles(request, deps, 'files');
    if (files.length === 0) {
      throw new SluiceError('invalid_request', "The form needs a part 'files' with a file.", { param: 'files' });
    }
    const read = files.map((file) => readCookies(file, deps));
    await keepCookies(read, request, deps);
    return read.map(({ filename }) => ({ filename }));
  };
}
