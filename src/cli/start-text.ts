import { networkInterfaces } from 'node:os';
import { type Bind, hostAndPort, isLoopback } from '../config/bind.ts';
import type { Config } from '../config/config.ts';
import type { Provider } from '../core/provider.ts';
import type { EmbeddedDescription } from '../providers/embedded/describe.ts';
import { keyHint } from './key-hint.ts';

/** What the start text tells about. */
export interface Started {
  readonly config: Config;
  /** Where it really listens. */
  readonly address: Bind;
  readonly providers: readonly Provider[];
  readonly embedded: Pick<EmbeddedDescription, 'bundled' | 'models'>;
  /** What is to be said about variables that have no effect. */
  readonly notes: readonly string[];
  readonly version: string;
}

/** The few lines that greet whoever starts Sluice. */
export function startText({ config, address, providers, embedded, notes, version }: Started): string {
  const base = `http://${hostAndPort(reachableHost(address.host), address.port)}`;
  const generated = config.keyGenerated === true ? config.key : undefined;
  const page = generated === undefined ? `${base}/` : `${base}/?key=${encodeURIComponent(generated)}`;
  const which = config.key === undefined ? 'any API key' : 'the access key as API key';
  const rows: [name: string, text: string][] = [
    ['Page', page],
    ['API', `${base}/v1   (base URL for OpenAI clients, with ${which})`],
    ['API docs', `${base}/docs`],
    ...accessRows(config, address),
    ...providers.map((provider, index): [string, string] => [
      index === 0 ? 'Providers' : '',
      providerLine(provider, embedded),
    ]),
    ...notes.map((note): [string, string] => ['Note', note]),
  ];
  const lines = rows.map(([name, text]) => `  ${name.padEnd(11)}${text}`);
  return ['', `Sluice ${version} is ready.`, '', ...lines, '', ...addingOne(config, providers, embedded), ''].join(
    '\n',
  );
}

/** A line about a local server that was found after the start. */
export function foundText(provider: Provider): string {
  return `  ${'Found'.padEnd(11)}${providerLine(provider, noModels)}`;
}

function accessRows(config: Config, { host, port }: Started['address']): [string, string][] {
  if (config.keyGenerated === true) {
    return [['Access key', `${config.key}   (made up for this start; SLUICE_KEY or key: sets a lasting one)`]];
  }
  if (config.key !== undefined) return [];
  if (isLoopback(host)) return config.allowedHosts.length === 0 ? [] : [['Open', openTo(config.allowedHosts)]];
  return [['Open', `everybody who reaches ${hostAndPort(host, port)} can use it: no key is asked for, as was wished`]];
}

/** Whoever calls a program on this machine by another name comes through a proxy. */
function openTo(names: readonly string[]): string {
  return `whoever reaches it as ${names.join(' or ')}, through a proxy, can use it: no key is asked for (SLUICE_KEY or key: sets one)`;
}

const noModels: Started['embedded'] = { bundled: 'missing', models: [] };

function providerLine(provider: Provider, embedded: Started['embedded']): string {
  const { id, label } = provider;
  const name = label === id ? '' : `${label}: `;
  return `${id.padEnd(12)} ${name}${howFound(provider, embedded)}`;
}

function howFound({ origin, auth, chat, speech }: Provider, embedded: Started['embedded']): string {
  const needsKey = auth.kind === 'api_key' && !auth.configured;
  const variable = auth.kind === 'api_key' ? auth.variable : undefined;
  switch (origin) {
    case 'file':
      return needsKey ? 'named in the configuration file, still without a key' : 'named in the configuration file';
    case 'environment':
      return variable === undefined ? 'by its key in the environment' : `by ${variable}`;
    case 'local':
      return 'found running on this machine';
    case 'embedded':
      return chat === undefined && speech !== undefined
        ? 'reads texts aloud, without a network'
        : embeddedState(embedded);
  }
}

/** Honest words: who meets the demo model first must not take it for what Sluice can do. */
function embeddedState({ bundled, models }: Started['embedded']): string {
  const own = ownModels({ bundled, models });
  if (own > 0) return own === 1 ? 'a model of your own' : `${own} models of your own`;
  return bundled === 'missing' ? 'no model yet' : 'a small demo model, whose answers are simple and often wrong';
}

function ownModels({ bundled, models }: Started['embedded']): number {
  return bundled === 'missing' ? models.length : models.length - 1;
}

function addingOne(config: Config, providers: readonly Provider[], embedded: Started['embedded']): string[] {
  const file = config.file === undefined ? 'sluice.yaml' : config.file;
  const hasOthers = providers.some(({ origin }) => origin !== 'embedded');
  const another = providers.length === 0 ? 'a provider' : hasOthers ? 'another provider' : 'a stronger provider';
  return [
    `  To add ${another}: ${keyHint()} and start`,
    `  again, start a local server such as Ollama, or name it in ${file}. "sluice doctor" checks everything.`,
    ...(config.embedded.enabled && !hasOthers && ownModels(embedded) === 0
      ? ['  "sluice pull qwen3-0.6b" fetches a better model that runs inside Sluice (640 MB).']
      : []),
  ];
}

/** An address that a browser can open: a wildcard is none. */
function reachableHost(host: string): string {
  if (host !== '0.0.0.0' && host !== '::') return host;
  const addresses = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  return addresses.find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? '127.0.0.1';
}
