import type { ProviderConfig } from '../config/config.ts';
import type { Logger } from '../core/logger.ts';
import { askLoopback, type Entry, entriesOf } from './local-probe.ts';
import { type Upstream, type UpstreamId, upstreams } from './openai/upstreams.ts';

const TIMEOUT_MS = 400;
const INTERVAL_MS = 30_000;

/** Where to look for model servers, and how. */
export interface LocalOptions {
  /** The port we listen on: Jan's usual one is ours too, and a gateway must not become its own upstream. */
  readonly ownPort: number;
  readonly signal?: AbortSignal;
  /** For each request. Default: 400 ms. */
  readonly timeoutMs?: number;
  /** Instead of the usual ports. Only tests need it. */
  readonly ports?: { readonly [id in UpstreamId]?: readonly number[] };
}

interface WatchOptions extends LocalOptions {
  /** Between two rounds. Default: 30 s. */
  readonly intervalMs?: number;
  /** Told when `onChange` throws. */
  readonly log?: Pick<Logger, 'error'>;
}

/** Runs until it is closed. */
export interface LocalWatch {
  /** Looks now, or waits for the look that is under way. */
  refresh(): Promise<void>;
  close(): void;
}

/**
 * The model servers that listen on their usual loopback ports now. Something counts only when it answers in the way of that
 * very server, without being shown a key: any web application may sit on port 8080. Never throws.
 */
export async function detectLocal(options: LocalOptions): Promise<ProviderConfig[]> {
  return (await look(options)).found;
}

/**
 * Looks at once (but asynchronously) and then every 30 seconds, and tells `onChange` which servers are present whenever
 * that has changed. A known server that is too busy to answer in time stays; one that refuses the connection is gone.
 */
export function watchLocal(onChange: (present: readonly ProviderConfig[]) => void, options: WatchOptions): LocalWatch {
  const closed = new AbortController();
  const signal = options.signal ? AbortSignal.any([options.signal, closed.signal]) : closed.signal;
  let present: readonly ProviderConfig[] = [];
  let running: Promise<void> | undefined;

  async function round(): Promise<void> {
    const { found, silent } = await look({ ...options, signal });
    if (signal.aborted) return;
    const busy = present.filter(
      ({ baseUrl }) => silent.has(portOf(baseUrl)) && !found.some((one) => one.baseUrl === baseUrl),
    );
    const next = [...found, ...busy].sort((a, b) => (a.id < b.id ? -1 : 1));
    if (signatureOf(next) === signatureOf(present)) return;
    present = next;
    try {
      onChange(next);
    } catch (error) {
      options.log?.error({ err: error }, 'could not take over the change of local servers');
    }
  }

  function refresh(): Promise<void> {
    if (signal.aborted) return Promise.resolve();
    running ??= round().finally(() => {
      running = undefined;
    });
    return running;
  }

  const timer = setInterval(refresh, options.intervalMs ?? INTERVAL_MS).unref();
  setImmediate(refresh).unref();
  return {
    refresh,
    close() {
      clearInterval(timer);
      closed.abort();
    },
  };
}

interface Look {
  readonly found: ProviderConfig[];
  /** Ports that accepted a connection but gave no answer in time. */
  readonly silent: ReadonlySet<number>;
}

async function look(options: LocalOptions): Promise<Look> {
  const silent = new Set<number>();
  const listings = new Map<number, Promise<Entry | undefined>>();
  const checks = LOCAL.flatMap(([id, row]) => {
    const ports = options.ports ? (options.ports[id] ?? []) : (row.ports ?? []);
    return ports.filter((port) => port !== options.ownPort).map((port) => check(id, row, port));
  });

  async function check(id: LocalId, row: Upstream, port: number): Promise<ProviderConfig | undefined> {
    const ask = (path: string) =>
      askLoopback(port, path, {
        timeoutMs: options.timeoutMs ?? TIMEOUT_MS,
        onSilence: () => silent.add(port),
        ...(options.signal && { signal: options.signal }),
      });
    // One listing for all that share a port: whoever else sits there is bothered with a single request.
    const listing = await (listings.get(port) ?? remember(port, ask('/v1/models')));
    if (listing?.object !== 'list' || !(await SIGNS[id](entriesOf(listing.data), ask))) return undefined;
    return toConfig(id, row, port);
  }

  function remember(port: number, listing: Promise<Entry | undefined>): Promise<Entry | undefined> {
    listings.set(port, listing);
    return listing;
  }

  const found = (await Promise.all(checks)).filter((config) => config !== undefined);
  return { found, silent };
}

type LocalId = 'ollama' | 'lmstudio' | 'llamacpp' | 'vllm' | 'localai' | 'jan';
type Sign = (models: readonly Entry[], ask: (path: string) => Promise<Entry | undefined>) => Promise<boolean>;

/** What only this server says, asked of something that already gave a listing in the OpenAI format. */
const SIGNS: Readonly<Record<LocalId, Sign>> = {
  async ollama(_models, ask) {
    const version = await ask('/api/version');
    return isVersion(version?.version) && Array.isArray((await ask('/api/tags'))?.models);
  },
  async lmstudio(_models, ask) {
    const old = entriesOf((await ask('/api/v0/models'))?.data);
    if (old.some((model) => model.state === 'loaded' || model.state === 'not-loaded')) return true;
    const models = entriesOf((await ask('/api/v1/models'))?.models);
    return models.some((model) => typeof model.key === 'string' && Array.isArray(model.loaded_instances));
  },
  async llamacpp(models, ask) {
    if (!models.some((model) => model.owned_by === 'llamacpp')) return false;
    // The listing is open to all, but this is not: a server that wants a key refuses it and cannot be used unasked.
    const properties = await ask('/props');
    return entriesOf([properties?.default_generation_settings]).length === 1 || properties?.role === 'router';
  },
  async vllm(models, ask) {
    return models.some((model) => model.owned_by === 'vllm') && isVersion((await ask('/version'))?.version);
  },
  async localai(_models, ask) {
    const system = await ask('/system');
    return Array.isArray(system?.backends) && typeof (await ask('/version'))?.version === 'string';
  },
  async jan(_models, ask) {
    const [about] = entriesOf([(await ask('/openapi.json'))?.info]);
    return typeof about?.title === 'string' && /\bJan\b/.test(about.title);
  },
};

const LOCAL = (Object.keys(SIGNS) as LocalId[]).map((id) => [id, upstreams[id] as Upstream] as const);

function toConfig(id: LocalId, row: Upstream, port: number): ProviderConfig {
  return {
    id,
    kind: 'openai',
    label: row.label,
    origin: 'local',
    baseUrl: `http://127.0.0.1:${port}/v1`,
    needsKey: false,
    keyHeader: row.keyHeader ?? 'authorization',
    headers: row.headers ?? {},
    ...(row.url === undefined ? {} : { url: row.url }),
    settings: {},
  };
}

function isVersion(value: unknown): boolean {
  return typeof value === 'string' && /^v?\d+\.\d+/.test(value);
}

function portOf(baseUrl: string | undefined): number {
  return Number(new URL(baseUrl ?? 'http://127.0.0.1').port);
}

function signatureOf(configs: readonly ProviderConfig[]): string {
  return configs.map(({ id, baseUrl }) => `${id} ${baseUrl}`).join('\n');
}
