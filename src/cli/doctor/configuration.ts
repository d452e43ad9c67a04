import path from 'node:path';
import { hostAndPort, isLoopback } from '../../config/bind.ts';
import type { Config } from '../../config/config.ts';
import { DEFAULT_FILE } from '../../config/file.ts';
import { type LoadOptions, loadUsable } from '../../config/load.ts';
import { type Environment, variable } from '../../config/paths.ts';
import type { ProxyConfig } from '../../config/proxy.ts';
import { suggest } from '../../config/suggest.ts';
import { variablesRead } from '../../config/variables.ts';
import { type Finding, good, note, wrong } from './finding.ts';

/** A key that somebody could guess is shorter than this. */
const SHORT_KEY = 16;

/** What is configured, and the configuration as far as it can be used. */
export async function examineConfiguration(
  options: LoadOptions & { readonly environment: Environment; readonly directory: string },
): Promise<{ findings: Finding[]; config: Config }> {
  const { config, notes, wrongOutside, wrongInFile } = await loadUsable(options);
  const known = variablesRead();
  const set = [...known].filter((name) => variable(options.environment, name) !== undefined);
  const findings = [
    ...[...wrongOutside, ...wrongInFile].map((problem) => wrong(problem)),
    ...(wrongOutside.length > 0 ? [note('what is wrong there counts as not set in what follows')] : []),
    fileFinding(config, wrongInFile.length > 0, options.directory),
    // Names only: the values may be secrets.
    good(`variables that count here: ${set.join(', ') || 'none are set'}`),
    ...slips(options.environment, known),
    ...notes.map((text) => note(text)),
    accessFinding(config),
    ...proxyFindings(config.proxy),
  ];
  return { findings, config };
}

/** Variables whose names are nearly ours, and which nobody reads. */
function slips(environment: Environment, known: ReadonlySet<string>): Finding[] {
  const ours = [...known].filter(isOurs);
  return Object.keys(environment).flatMap((name) => {
    const meant = isOurs(name) && !known.has(name) ? suggest(name, ours) : undefined;
    return meant === undefined ? [] : note(`${name} is set, and Sluice reads no such variable; did you mean ${meant}?`);
  });
}

function isOurs(name: string): boolean {
  return name.startsWith('SLUICE_');
}

function fileFinding({ file }: Config, isWrong: boolean, directory: string): Finding {
  if (isWrong) return note('the file is left out in what follows, as it cannot be used');
  if (file !== undefined) return good(`configuration file: ${file}`);
  return good(`no configuration file, and none is needed (looked for ${path.join(directory, DEFAULT_FILE)})`);
}

function proxyFindings({ https, http, direct }: ProxyConfig): Finding[] {
  const except = direct.length === 0 ? '' : `, except ${direct.join(', ')}`;
  return Object.entries({ https, http }).flatMap(([scheme, proxy]) =>
    proxy === undefined
      ? []
      : good(
          `providers by ${scheme} are reached through ${hostAndPort(proxy.hostname, proxy.port)} (${proxy.variable})${except}`,
        ),
  );
}

function accessFinding({ bind, key, keyGenerated, allowedHosts }: Config): Finding {
  const address = hostAndPort(bind.host, bind.port);
  if (isLoopback(bind.host)) {
    if (key === undefined && allowedHosts.length > 0) {
      return note(
        `listens on ${address} and asks nobody for a key: whoever reaches it as ${allowedHosts.join(' or ')}, through a proxy, can use your providers`,
        'set SLUICE_KEY, or key in sluice.yaml, unless the proxy itself asks who they are',
      );
    }
    return good(`listens on ${address}, for this machine only${key === undefined ? '' : ', with an access key'}`);
  }
  if (keyGenerated === true) {
    return note(
      `listens on ${address}, reachable from elsewhere; every start makes up another access key`,
      'for a lasting one set SLUICE_KEY, or key in sluice.yaml',
    );
  }
  if (key === undefined) {
    return note(
      `listens on ${address} and asks nobody for a key, as was wished: everybody who reaches it can use your providers`,
      'set SLUICE_KEY, or key in sluice.yaml, unless that is meant',
    );
  }
  if (key.length >= SHORT_KEY) return good(`listens on ${address}, with an access key`);
  return note(
    `listens on ${address} with an access key of only ${key.length} characters`,
    `take one of ${SHORT_KEY} or more, for example from: openssl rand -base64 24`,
  );
}
