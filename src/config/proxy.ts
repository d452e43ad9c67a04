import { decoded } from '../core/decoded.ts';
import { type Environment, variable } from './paths.ts';

/** What leads to providers where nothing else leads outside: named by variables, as for curl. */
export interface ProxyConfig {
  /** For `https:` and for `http:` addresses; absent: directly. */
  readonly https?: ProxyAddress;
  readonly http?: ProxyAddress;
  /** Hosts that are reached directly: names, which stand for those below them too, addresses, and ranges of them; `*`: all. */
  readonly direct: readonly string[];
}

/** A proxy as its variable names it. */
export interface ProxyAddress {
  readonly hostname: string;
  readonly port: number;
  /** Whether the proxy itself is spoken to by TLS. */
  readonly isSecure: boolean;
  /** `name:password`, where it wants one. */
  readonly credentials?: string;
  /** The variable that named it. */
  readonly variable: string;
}

/** Each also in lower case, which counts more, as with other programs. */
export const PROXY_VARIABLES = ['HTTPS_PROXY', 'HTTP_PROXY', 'NO_PROXY'] as const;

const PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };

/** What is wrong with a variable counts as not set, and is added to `problems`, without its value: a password may be in it. */
export function resolveProxy(environment: Environment, problems: string[]): ProxyConfig {
  const [https, http] = (['HTTPS_PROXY', 'HTTP_PROXY'] as const).map((name) => {
    const [text, found] = either(environment, name);
    const address = text === undefined ? undefined : parse(text, found);
    if (text !== undefined && address === undefined)
      problems.push(
        `${found}: got what is not shown here, since a password may be in it; allowed: the address of a proxy that speaks HTTP, such as http://proxy.example.org:3128`,
      );
    return address;
  });
  const [direct = ''] = either(environment, 'NO_PROXY');
  return {
    ...(https === undefined ? {} : { https }),
    ...(http === undefined ? {} : { http }),
    direct: direct
      .toLowerCase()
      .split(/[\s,]+/)
      .filter((host) => host !== ''),
  };
}

function either(environment: Environment, name: string): [text: string | undefined, name: string] {
  const lower = name.toLowerCase();
  const text = variable(environment, lower);
  return text === undefined ? [variable(environment, name), name] : [text, lower];
}

/** Without a scheme it is one that is spoken to in clear text, as for curl. */
function parse(text: string, variable: string): ProxyAddress | undefined {
  const written = /^[a-z][a-z\d+.-]*:\/\//i.test(text) ? text : `http://${text}`;
  if (!URL.canParse(written)) return undefined;
  const { protocol, hostname, port, username, password } = new URL(written);
  const usual = PORTS[protocol];
  if (usual === undefined) return undefined;
  const credentials = decoded(`${username}:${password}`);
  return {
    hostname: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? usual : Number(port),
    isSecure: protocol === 'https:',
    ...(credentials === ':' ? {} : { credentials }),
    variable,
  };
}
