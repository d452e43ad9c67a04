import { decoded } from '../core/decoded.ts';
import { mayBeSecret } from '../core/secret-names.ts';
import { Secrets } from '../core/secrets.ts';
import type { Config } from './config.ts';
import { type Environment, variable } from './paths.ts';
import { secretVariables } from './variables.ts';

/** Everything in a configuration that must not be shown: not in a log line, not by `doctor`. */
export function secretsOf(config: Config): string[] {
  const ofProviders = config.providers.flatMap(({ apiKey, apiKeys = [], headers, settings }) => [
    ...(apiKey === undefined ? [] : [apiKey]),
    ...apiKeys,
    ...Object.entries(headers).flatMap(([name, value]) => (mayBeSecret(name) ? [value] : [])),
    ...Object.entries(settings).flatMap(([name, value]) => (mayBeSecret(name) ? [value] : [])),
  ]);
  const ofSearch = config.search.targets.flatMap(({ apiKey }) => apiKey ?? []);
  const ofCollector = Object.values(config.observe.otel?.headers ?? {});
  const ofProxies = [config.proxy.https, config.proxy.http].flatMap((proxy) => {
    const { credentials } = proxy ?? {};
    return credentials === undefined ? [] : [credentials, credentials.slice(credentials.indexOf(':') + 1)];
  });
  const ofDatabase = config.database === undefined ? [] : databaseSecrets(config.database);
  return [
    ...(config.key === undefined ? [] : [config.key]),
    ...ofDatabase,
    ...ofProviders,
    ...ofSearch,
    ...ofCollector,
    ...ofProxies,
  ];
}

/** The password of a database's address, as it stands there and as it is meant. */
function databaseSecrets(address: string): string[] {
  const { password = '', searchParams } = URL.parse(address) ?? {};
  return [password, decoded(password), searchParams?.get('password') ?? ''].filter((text) => text !== '');
}

/** The keys in the environment, also those that a broken configuration does not use. */
export function secretsIn(environment: Environment): string[] {
  return [...secretVariables()].flatMap((name) => variable(environment, name) ?? []);
}

/** A mask for texts that holds these secrets. */
export function maskOf(secrets: readonly string[]): (text: string) => string {
  const known = new Secrets();
  known.use(secrets);
  return (text) => known.mask(text);
}
