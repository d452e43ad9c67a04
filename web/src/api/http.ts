import type { Failure } from '../state/model.ts';

/** What paths of dialect A begin with. */
export const BACKEND = '/backend-api/v2';

/** A request that failed, with what is needed to say what to do about it. */
export class RequestError extends Error {
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.message);
    this.name = 'RequestError';
    this.failure = failure;
  }
}

/** Anything thrown, as a failure to show. */
export function toFailure(thrown: unknown): Failure {
  if (thrown instanceof RequestError) return thrown.failure;
  return { message: thrown instanceof Error ? thrown.message : String(thrown), code: 'page' };
}

/** Whether it was thrown because a signal was aborted. */
export function isAbort(thrown: unknown): boolean {
  return thrown instanceof DOMException && thrown.name === 'AbortError';
}

/** `fetch` that throws a RequestError for every answer but a good one. An aborted request throws its AbortError. */
export async function request(path: string, options?: RequestInit): Promise<Response> {
  const response = await fetch(path, options).catch((error: unknown) => {
    if (isAbort(error)) throw error;
    throw new RequestError({ message: '', code: 'unreachable' });
  });
  if (response.ok) return response;
  const body: unknown = await response.json().catch(() => undefined);
  const error = (body as { error?: { message?: unknown; code?: unknown } } | undefined)?.error;
  const code = error === undefined && isOfProxy(response.status) ? 'unreachable' : error?.code;
  const seconds = Number(response.headers.get('retry-after'));
  throw new RequestError({
    // The class name in front is for programs.
    message: typeof error?.message === 'string' ? error.message.replace(/^\w+Error: /, '') : '',
    status: response.status,
    ...(typeof code === 'string' ? { code } : {}),
    ...(seconds > 0 ? { retryAt: Date.now() + seconds * 1_000 } : {}),
  });
}

/** With these a proxy in front says that it does not reach the server. The server's own ones say in JSON what is the matter. */
function isOfProxy(status: number): boolean {
  return status >= 502 && status <= 504;
}

/** Deletes what is there, also when the page is left meanwhile. What is not there any more is as good as deleted. */
export async function deleteAt(path: string): Promise<void> {
  await request(path, { method: 'DELETE', keepalive: true }).catch((thrown: unknown) => {
    if (toFailure(thrown).status !== 404) throw thrown;
  });
}

/** The JSON of a GET request. The shape is the server's word: nothing else answers at these addresses. */
export async function getJson<Shape>(path: string, options?: RequestInit): Promise<Shape> {
  return (await request(path, options)).json() as Promise<Shape>;
}

/** Posts some JSON. */
export function postJson(path: string, body: unknown, options: RequestInit = {}): Promise<Response> {
  const headers = { 'content-type': 'application/json', ...options.headers };
  return request(path, { ...options, method: 'POST', headers, body: JSON.stringify(body) });
}
