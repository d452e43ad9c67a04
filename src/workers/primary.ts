import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { sweepRegularly } from '../buckets/sweep.ts';
import { Failure } from '../cli/failure.ts';
import { createLogger, type ProcessLogger } from '../cli/logger.ts';
import { stopInOrder } from '../cli/stop.ts';
import type { Config, ProviderConfig } from '../config/config.ts';
import type { Flags } from '../config/flags.ts';
import { type Loaded, loadConfig } from '../config/load.ts';
import { ConfigError } from '../config/problems.ts';
import { secretsOf } from '../config/secrets.ts';
import { type ConfigWatch, watchConfig } from '../config/watch.ts';
import { OwnLedger } from '../observe/ledger.ts';
import { type LocalWatch, watchLocal } from '../providers/local.ts';
import { openDatabase, openStores } from '../stores/index.ts';
import { makeSocketFolder } from './elsewhere.ts';
import { Fleet, type Member, StartFailure } from './fleet.ts';
import { Hub } from './hub.ts';

/** Waiting before a worker that crashed is replaced, in milliseconds: longer each time that another one crashes soon. */
const BACK_OFF_MS = 100;
const LONGEST_BACK_OFF_MS = 10_000;
const CALM_MS = 30_000;

/** What stays as it is while the primary lives: it has opened it, or looks after it. */
const FIXED = ['bind', 'dataDir', 'observe', 'logLevel', 'detectLocal'] as const;
const WHOLE = 'a restart of Sluice as a whole';

/** `sluice serve --workers N`: one small process that starts N others, which serve. Throws what keeps it from starting. */
export async function serveByWorkers(flags: Flags, loaded: Loaded): Promise<void> {
  const log = createLogger(loaded.config.logLevel);
  log.hide(secretsOf(loaded.config));
  for (const note of loaded.notes) log.warn({}, note);
  const primary = new Primary(flags, loaded, log);
  const text = await primary.start().catch((error: unknown) => {
    throw error instanceof StartFailure ? new Failure(error.lines.join(' '), error.exitCode) : error;
  });
  process.stdout.write(`${text}\n`);
}

/** Owns whatever there is only one of, and the processes that share it. It serves nobody itself. */
class Primary {
  readonly #flags: Flags;
  readonly #log: ProcessLogger;
  readonly #folder: string;
  readonly #hub: Hub;
  readonly #fleet: Fleet;
  readonly #ledger: OwnLedger;
  readonly #stores: ReturnType<typeof openStores>;
  #loaded: Loaded;
  /** Where the first worker has begun to listen. */
  #port: number | undefined;
  #local: readonly ProviderConfig[] = [];
  #localWatch: LocalWatch | undefined;
  #configWatch: ConfigWatch | undefined;
  #sweep: { stop(): void } | undefined;
  #isStopping = false;
  #isRestarting = false;
  #isRestartWanted = false;
  #crashes = 0;
  #lastCrash = Number.NEGATIVE_INFINITY;

  constructor(flags: Flags, loaded: Loaded, log: ProcessLogger) {
    this.#flags = flags;
    this.#loaded = loaded;
    this.#log = log;
    this.#folder = makeSocketFolder();
    process.on('exit', () => {
      this.#fleet.kill();
      rmSync(this.#folder, { recursive: true, force: true });
    });
    const { dataDir, observe } = loaded.config;
    const database = openDatabase(dataDir, log);
    this.#stores = openStores(dataDir, log, () => this.#config.limits.keptResponses, database);
    this.#ledger = new OwnLedger({ config: observe, records: this.#stores.caches, log });
    this.#hub = new Hub({ database, ledger: this.#ledger, limits: () => this.#config.limits, log });
    this.#fleet = new Fleet(
      {
        joined: (member) => this.#hub.join(member),
        left: (member) => this.#hub.leave(member),
        crashed: (member, how) => this.#crashed(member, how),
      },
      log,
    );
  }

  get #config(): Config {
    return this.#loaded.config;
  }

  /** Starts one worker, and returns the text that greets; the others follow. Throws when the first one cannot serve. */
  async start(): Promise<string> {
    const first = this.#startOne();
    const isFull = first.then(
      () => this.#fill(),
      () => undefined,
    );
    // Before the first one serves: Node's own answer to a signal would leave it behind, and the folder of the sockets.
    stopInOrder({
      drain: () => this.#stop(),
      drainMs: () => this.#config.limits.drainMs,
      log: this.#log,
      onHangup: () => void isFull.then(() => this.#restart()),
    });
    const text = await first.catch((error: unknown) => {
      // It was told to stop; the process ends with that.
      if (this.#isStopping) return new Promise<never>(() => {});
      throw error;
    });
    this.#watchConfig();
    if (this.#config.detectLocal) this.#watchLocal();
    this.#sweep = sweepRegularly(this.#stores, this.#log);
    return text;
  }

  /** Starts all workers but the first. */
  async #fill(): Promise<void> {
    await Promise.all(Array.from({ length: this.#config.workers - 1 }, () => this.#add()));
  }

  /** Resolves once it serves, and knows what has happened since it was started. */
  async #startOne(): Promise<string> {
    const { config, notes } = this.#loaded;
    const { workers } = config;
    const member = this.#fleet.start({
      config: { ...config, bind: { ...config.bind, port: this.#portToAsk } },
      notes,
      folder: this.#folder,
      workers,
      local: this.#local,
    });
    const { port, text } = await member.served;
    this.#port ??= port;
    if (port !== this.#port) {
      this.#fleet.retire(member);
      throw new Error(`it got port ${port} instead of ${this.#port}, since all others had ended`);
    }
    const { channel } = member;
    const missed = [
      channel.ask('news', { type: 'cookies' }),
      ...(config === this.#config ? [] : [channel.ask('news', { type: 'config', config: this.#config })]),
      channel.ask('news', { type: 'local', found: this.#local }),
    ];
    await Promise.allSettled(missed);
    this.#log.debug({ worker: member.pid }, 'a worker serves');
    return text;
  }

  /**
   * Workers share a port by the number that they ask for. Where the system chose it and nobody serves any more, it is asked for by
   * the number that clients know.
   */
  get #portToAsk(): number {
    return this.#fleet.serving[0]?.askedPort ?? this.#port ?? this.#config.bind.port;
  }

  #crashed(member: Member, how: string): void {
    if (this.#isStopping) return;
    this.#log.error({ worker: member.pid, how }, 'a worker ended unexpectedly');
    if (member.state !== 'serving') return;
    const now = performance.now();
    this.#crashes = now - this.#lastCrash > CALM_MS ? 0 : this.#crashes + 1;
    this.#lastCrash = now;
    void this.#add(this.#crashes);
  }

  /** Starts one more, until that works; the more has failed lately, the later. */
  async #add(failures = 0): Promise<void> {
    for (let failed = failures; !this.#isStopping; failed += 1) {
      if (failed > 0) await sleep(Math.min(LONGEST_BACK_OFF_MS, BACK_OFF_MS * 2 ** failed));
      if (this.#isStopping) return;
      try {
        await this.#startOne();
        return;
      } catch (error) {
        if (this.#isStopping) return;
        this.#log.error({ error: (error as Error).message }, 'a worker could not be started');
      }
    }
  }

  /** New workers take the places of the old ones, one after the other; no answer is cut. Wished twice, it is done twice. */
  async #restart(): Promise<void> {
    if (this.#isStopping) return;
    this.#isRestartWanted = true;
    if (this.#isRestarting) {
      this.#log.info({}, 'restarting the workers once more after this time');
      return;
    }
    this.#isRestarting = true;
    while (this.#isRestartWanted && !this.#isStopping) {
      this.#isRestartWanted = false;
      try {
        await this.#roll();
      } catch (error) {
        if (this.#isStopping) break;
        const reason = error instanceof ConfigError ? error.problems.join('\n') : (error as Error).message;
        this.#log.error({}, `the restart stopped, the other workers go on serving: ${reason}`);
      }
    }
    this.#isRestarting = false;
  }

  async #roll(): Promise<void> {
    await this.#reload();
    if (this.#isStopping) return;
    const old = this.#fleet.serving;
    const count = Math.max(1, this.#config.workers);
    this.#log.info({ workers: count }, 'restarting the workers, one after the other');
    for (let at = 0; at < Math.max(count, old.length); at += 1) {
      if (at < count) await this.#startOne();
      if (this.#isStopping) return;
      const member = old[at];
      if (member?.state === 'serving') this.#fleet.retire(member);
    }
    // One that crashed meanwhile was replaced twice.
    for (const member of this.#fleet.serving.slice(count)) this.#fleet.retire(member);
    this.#log.info({ workers: count }, 'all workers are new');
  }

  /** Reads the configuration anew. Throws when it is wrong. */
  async #reload(): Promise<void> {
    const { config, notes } = await loadConfig({ flags: this.#flags });
    const before = this.#config;
    const pinned = Object.fromEntries(FIXED.map((name) => [name, before[name]]));
    const key = before.keyGenerated === true && config.keyGenerated === true ? { key: before.key } : {};
    const needRestart = FIXED.filter((name) => !isDeepStrictEqual(before[name], config[name]));
    if (needRestart.length > 0) {
      this.#log.warn({ needRestart }, `a change of ${needRestart.join(', ')} needs ${WHOLE}`);
    }
    this.#loaded = { config: { ...config, ...pinned, ...key } as Config, notes };
    this.#log.hide([...secretsOf(before), ...secretsOf(this.#config)]);
    this.#configWatch?.close();
    this.#watchConfig();
    await this.#hub.recall();
  }

  #watchConfig(): void {
    this.#configWatch = watchConfig(
      async () => (await loadConfig({ flags: this.#flags })).config,
      this.#config,
      async (config) => {
        this.#log.hide([...secretsOf(this.#config), ...secretsOf(config)]);
        this.#loaded = { config, notes: this.#loaded.notes };
        await this.#hub.tell({ type: 'config', config });
        await this.#hub.recall();
      },
      this.#log,
      (key) => (FIXED.some((name) => name === key) ? WHOLE : 'a restart of the workers: send SIGHUP'),
    );
  }

  #watchLocal(): void {
    const told = new Set<string>();
    this.#localWatch = watchLocal(
      (found) => {
        this.#local = found;
        void this.#hub.tell({ type: 'local', found }).then(([lines = []]) => {
          for (const line of lines) {
            if (!told.has(line)) process.stdout.write(`${line}\n`);
            told.add(line);
          }
        });
      },
      { ownPort: this.#config.bind.port, log: this.#log },
    );
  }

  /** Lets all workers drain, then closes what they shared. */
  async #stop(): Promise<void> {
    this.#isStopping = true;
    this.#localWatch?.close();
    this.#configWatch?.close();
    this.#sweep?.stop();
    await this.#fleet.stop();
    await Promise.all([this.#ledger.close(), this.#hub.close()]);
    await this.#stores.close();
  }
}
