import type { Deps, Handler } from '../deps.ts';

/**
 * `GET version`. The latest version is never asked of the network: a probe of the front end must not wait, nor tell anybody
 * that we run.
 */
export function version(deps: Deps): Handler {
  return async () => ({ version: deps.version, latest_version: deps.version });
}
