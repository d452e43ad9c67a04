import { isIP } from 'node:net';
import type { Config, ProviderConfig } from '../../config/config.ts';
import { type Environment, variable } from '../../config/paths.ts';
import { rows } from '../../config/rows.ts';
import { suggest } from '../../config/suggest.ts';
import type { SluiceError } from '../../core/errors.ts';
import type { Model } from '../../core/model.ts';
import type { Provider } from '../../core/provider.ts';
import { codeOf, isDisagreement, isDistrust, isWithoutTls } from '../../outbound/error-code.ts';
import { type Asked, askForModels } from '../ask.ts';
import { keyHint } from '../key-hint.ts';
import { type Finding, good, note, wrong } from './finding.ts';

/** How long a provider may take for its list of models. */
export const TIMEOUT_MS = 5_000;

/** What was found out about a provider, for the names that stand for it or for its models. */
export interface Offered {
  readonly provider: Provider;
  /** What it lists to clients; absent: that is not known. */
  readonly listed?: readonly Model[];
  /** Names of models that it has, */
  readonly models: readonly string[];
  /** and whether it has no others. */
  readonly isAll: boolean;
}

/** What there is to say about some providers. */
export interface Examined {
  readonly findings: readonly Finding[];
  readonly offered: readonly Offered[];
}

/**
 * Asks providers for their models, which shows whether address and key are right. Costs no tokens. Those that were opened
 * with a fixed list would not be asked at all.
 */
export async function examineProviders(
  providers: readonly Provider[],
  configs: readonly ProviderConfig[],
  placeOf: (provider: ProviderConfig) => string | undefined,
): Promise<Examined> {
  const byId = new Map(configs.map((config) => [config.id, config]));
  const results = await Promise.all(
    providers.map(async (provider): Promise<Examined> => {
      const own = byId.get(provider.id);
      if (own === undefined) return { findings: [], offered: [] };
      if (own.needsKey && own.apiKey === undefined) {
        return { findings: [withoutKey(own)], offered: [offer(provider, own)] };
      }
      const asked = await askForModels(provider, TIMEOUT_MS);
      return { findings: findingsOf(own, asked, placeOf(own)), offered: [offer(provider, own, asked)] };
    }),
  );
  return {
    findings: results.flatMap((result) => result.findings),
    offered: results.flatMap((result) => result.offered),
  };
}

/** In the place of providers that are configured, where there are none. */
export const nothingYet = note(
  'no provider has a key or is named in sluice.yaml',
  `to add one: ${keyHint()}, or write sluice.yaml`,
);

function offer(provider: Provider, config: ProviderConfig, asked?: Asked): Offered {
  const found = asked?.error === undefined ? asked?.models : undefined;
  const listed = config.models?.map((id) => found?.find((model) => model.id === id) ?? { id }) ?? found;
  return {
    provider,
    ...(listed === undefined ? {} : { listed }),
    models: [...new Set([...(listed ?? []), ...(found ?? [])].map(({ id }) => id))],
    isAll: found !== undefined && !isAzure(config),
  };
}

function findingsOf(provider: ProviderConfig, asked: Asked, place: string | undefined): Finding[] {
  if (asked.error !== undefined) return [explain(provider, asked.error, place)];
  const count = asked.models.length === 1 ? '1 model' : `${asked.models.length} models`;
  const key = place === undefined ? '' : ` (key in ${place})`;
  const answers = good(`${provider.id}: ${provider.label} answers and lists ${count}${key}`);
  return [
    answers,
    ...notOffered(
      provider,
      asked.models.map(({ id }) => id),
    ),
  ];
}

/** Where the key of a provider came from, as people find it again. */
export function keyPlace(
  { id, apiKey, keyVariable }: ProviderConfig,
  config: Config,
  environment: Environment,
): string | undefined {
  if (apiKey === undefined) return undefined;
  if (keyVariable !== undefined && variable(environment, keyVariable) === apiKey) return keyVariable;
  return `providers.${id}.apiKey of ${config.file ?? 'sluice.yaml'}`;
}

function withoutKey({ id, label, keyVariable, loginUrl }: ProviderConfig): Finding {
  return wrong(`${id}: ${label} needs a key and has none`, howToGiveKey(id, keyVariable, loginUrl));
}

/** As words that end a sentence, with the vendor's page for keys where it is known. */
export function howToGiveKey(id: string, keyVariable: string | undefined, loginUrl: string | undefined): string {
  const give =
    keyVariable === undefined ? `set providers.${id}.apiKey` : `export ${keyVariable}=… or set providers.${id}.apiKey`;
  const make = loginUrl === undefined ? '' : `; a key is made at ${loginUrl}`;
  return `${give}${make}`;
}

function explain(provider: ProviderConfig, error: SluiceError, place: string | undefined): Finding {
  const { id, label, baseUrl, loginUrl } = provider;
  const where = baseUrl ?? label;
  switch (error.code) {
    case 'unauthorized':
    case 'missing_credentials':
      return refused(provider, error.status, place);
    case 'forbidden':
      if (place === undefined) return refused(provider, error.status, place);
      return wrong(
        `${id}: ${label} does not permit its list of models to the key in ${place} (${error.status}): ${error.message}`,
        loginUrl === undefined ? 'see what that key may do' : `see what that key may do at ${loginUrl}`,
      );
    case 'upstream_unreachable':
      if (isDistrust(codeOf(error.cause))) return distrusted(provider, codeOf(error.cause));
      if (isWithoutTls(error.cause)) {
        return wrong(`${id}: what answers at ${where} speaks no TLS`, `let providers.${id}.baseUrl begin with http://`);
      }
      if (isDisagreement(error.cause)) {
        return wrong(
          `${id}: ${where} speaks TLS in a way that Sluice does not`,
          'let it speak TLS 1.2 or newer, and HTTP/1.1 in it',
        );
      }
      return wrong(`${id}: nothing answers at ${where}: ${doubt(provider)}`, reachMend(provider));
    case 'upstream_cut':
      return wrong(
        `${id}: ${where} closes the connection without an answer`,
        // As servers do that were spoken to without TLS.
        where.startsWith('http:')
          ? `if it speaks TLS, let providers.${id}.baseUrl begin with https://; else ${reachMend(provider)}`
          : reachMend(provider),
      );
    case 'upstream_timeout':
      return wrong(
        `${id}: ${where} does not answer within ${TIMEOUT_MS / 1_000} seconds: ${doubt(provider)}`,
        reachMend(provider),
      );
    case 'rate_limited':
      return note(
        `${id}: ${label} is limiting requests now (${error.status})`,
        'try again later, or look at the limits of your account',
      );
    case 'not_found':
    case 'model_not_found':
    case 'method_not_allowed':
      return withoutListing(provider, error.status);
    case 'upstream_invalid':
      return wrong(
        `${id}: what answers at ${where} does not speak this API: ${error.message}`,
        `check providers.${id}.baseUrl: most end in /v1`,
      );
    default: {
      const mend = loginUrl === undefined ? undefined : `if that lasts, look at ${loginUrl}`;
      return wrong(`${id}: ${label} fails (${error.status}): ${error.message}`, mend);
    }
  }
}

function distrusted({ id, label, baseUrl }: ProviderConfig, code: string): Finding {
  return wrong(`${id}: the certificate of ${baseUrl ?? label} is not trusted here (${code})`, trustMend(id, code));
}

function trustMend(id: string, code: string): string {
  switch (code) {
    case 'CERT_HAS_EXPIRED':
    case 'CERT_NOT_YET_VALID':
      return 'set the clock of this machine, if it is wrong; else it has to be renewed there';
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return `let providers.${id}.baseUrl have a name that it is for`;
    default:
      return `start Sluice with NODE_EXTRA_CA_CERTS=file, which holds the certificate of who signed it, or correct providers.${id}.baseUrl`;
  }
}

function refused(
  { id, label, loginUrl, keyVariable }: ProviderConfig,
  status: number,
  place: string | undefined,
): Finding {
  const make = loginUrl === undefined ? '' : ` at ${loginUrl}`;
  if (place === undefined) {
    const give = keyVariable === undefined ? `set providers.${id}.apiKey` : `export ${keyVariable}=…`;
    return wrong(
      `${id}: ${label} wants a key (${status})`,
      `${give}; a key is made${make === '' ? ' by whoever runs it' : make}`,
    );
  }
  const mend = make === '' ? 'put in a valid one' : `make a new one${make}`;
  return wrong(`${id}: ${label} refused the key in ${place} (${status})`, mend);
}

/** A server in one's own network, or one out in the world. */
function isNear({ baseUrl }: ProviderConfig): boolean {
  const host = URL.parse(baseUrl ?? '')?.hostname ?? '';
  return host !== '' && (isIP(host.replace(/^\[|\]$/g, '')) !== 0 || !host.includes('.') || host.endsWith('.local'));
}

function doubt(provider: ProviderConfig): string {
  return isNear(provider) ? 'is the server running?' : 'is this machine online?';
}

function reachMend(provider: ProviderConfig): string {
  const { id, origin } = provider;
  if (isNear(provider)) return `start it, or correct providers.${id}.baseUrl`;
  const address = origin === 'file' ? `, or correct providers.${id}.baseUrl` : '';
  return `check the connection, and that no proxy or firewall is in the way${address}`;
}

function withoutListing(provider: ProviderConfig, status: number): Finding {
  const { id, label, baseUrl, models } = provider;
  if (models !== undefined)
    return note(
      `${id}: ${label} has no list of models (${status}); the ${models.length} configured ones are offered unchecked`,
    );
  return wrong(
    `${id}: ${baseUrl ?? label} answers, but has no list of models (${status})`,
    `check providers.${id}.baseUrl (most end in /v1), or name the models under providers.${id}.models`,
  );
}

/** Azure lists models, while requests name deployments. */
function isAzure({ baseUrl = '' }: ProviderConfig): boolean {
  return /\.openai\.azure\.com$/.test(URL.parse(baseUrl)?.hostname ?? '');
}

/** Models that the configuration names and the upstream does not have. */
function notOffered(provider: ProviderConfig, offered: readonly string[]): Finding[] {
  if (isAzure(provider)) return [];
  const { id, label, models = [], defaultModel } = provider;
  const row = rows.get(id);
  return [...new Set([...models, ...(defaultModel === undefined ? [] : [defaultModel])])]
    .filter((model) => !offered.includes(model))
    .map((model) => {
      const text = `${id}: the configured model "${model}" is not in the list of ${label}`;
      const key = models.includes(model) ? 'models' : 'defaultModel';
      // What a row of ours names is no mistake of the user's.
      const isOurs = key === 'models' ? row?.models?.includes(model) === true : row?.defaultModel === model;
      const mend = `${meant(model, offered)}correct providers.${id}.${key}`;
      return isOurs ? note(text, mend) : wrong(text, mend);
    });
}

/** A word on what was probably meant, or what there is. */
export function meant(model: string, offered: readonly string[]): string {
  const near = suggest(model, offered);
  if (near !== undefined) return `did you mean "${near}"? `;
  return offered.length === 0 ? '' : `it has ${offered.slice(0, 3).join(', ')}${offered.length > 3 ? ', …' : ''}: `;
}
