import { rmSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { Failure } from '../cli/failure.ts';
import { type ServingOutput, servingOutput } from '../cli/log-output.ts';
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
import { sweepRegularly } from '../sweep/sweep.ts';
import { Crew } from './crew.ts';
import { Fleet, type Member, StartFailure } from './fleet.ts';
import { Hub } from './hub.ts';
import { makeSocketFolder, removeDeadFolders } from './socket-folder.ts';
import type { News } from './words.ts';

/** What stays as it is while the primary lives: it has opened it, or looks after it. */
const FIXED = ['bind', 'dataDir', 'database', 'observe', 'logLevel', 'detectLocal'] as const;
const WHOLE = 'a restart of Sluice as a whole';

/** `sluice serve --workers N`: one small process that starts N others, which serve. Throws what keeps it from starting. */
export async function serveByWorkers(flags: Flags, loaded: Loaded): Promise<void> {
  const log = createLogger(loaded.config.logLevel);
  log.hide(secretsOf(loaded.config));
  for (const note of loaded.notes) log.warn({}, note);
  const output = servingOutput();
  const primary = new Primary(flags, loaded, log, output);
  const text = await primary.start().catch((error: unknown) => {
    throw error instanceof StartFailure ? new Failure(error.lines.join(' '), error.exitCode) : error;
  });
  output.write(`${text}\n`);
}

/** Owns whatever there is only one of, and the processes that share it. It serves nobody itself. */
class Primary {
  readonly #flags: Flags;
  readonly #log: ProcessLogger;
  readonly #output: ServingOutput;
  readonly #folder: string;
  readonly #hub: Hub;
  readonly #fleet: Fleet;
  readonly #crew: Crew;
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
  readonly #usageDays = (): number => this.#config.limits.keptUsageDays;

  constructor(flags: Flags, loaded: Loaded, log: ProcessLogger, output: ServingOutput) {
    this.#output = output;
    this.#flags = flags;
    this.#loaded = loaded;
    this.#log = log;
    this.#folder = makeSocketFolder();
    void removeDeadFolders(this.#folder);
    process.on('exit', () => {
      this.#fleet.kill();
      rmSync(this.#folder, { recursive: true, force: true });
    });
    const database = openDatabase(loaded.config, log);
    this.#stores = openStores(loaded.config, log, () => this.#config.limits.keptResponses, database);
    this.#ledger = new OwnLedger({
      config: loaded.config.observe,
      records: this.#stores.caches,
      log,
      usageDays: this.#usageDays,
    });
    this.#hub = new Hub({ database, ledger: this.#ledger, limits: () => this.#config.limits, log });
    this.#fleet = new Fleet(
      {
        joined: (member) => this.#hub.join(member),
        left: (member) => this.#hub.leave(member),
        failing: () => this.#crew.crashed(),
        crashed: (member, how) => this.#crashed(member, how),
      },
      log,
    );
    this.#crew = new Crew({
      fleet: this.#fleet,
      count: () => Math.max(1, this.#config.workers),
      start: () => this.#startOne(),
      reload: () => this.#reload(),
      log,
    });
  }

  get #config(): Config {
    return this.#loaded.config;
  }

  /** Starts one worker, and returns the text that greets; the others follow. Throws when the first one cannot serve. */
  async start(): Promise<string> {
    // Before there is a first one: Node's own answer to a signal would leave it behind, and the folder of the sockets.
    stopInOrder({
      drain: () => this.#stop(),
      drainMs: () => this.#config.limits.drainMs,
      log: this.#log,
      onHangup: () => void serves.then(() => this.#crew.restart()),
    });
    const first = this.#startOne();
    const serves = first.then(
      () => this.#crew.fill(),
      () => undefined,
    );
    const text = await first.catch((error: unknown) => {
      // It was told to stop; the process ends with that.
      if (this.#isStopping) return new Promise<never>(() => {});
      throw error;
    });
    this.#watchConfig();
    if (this.#config.detectLocal) this.#watchLocal();
    this.#sweep = sweepRegularly({ ...this.#stores, requests: this.#ledger, usageDays: this.#usageDays }, this.#log);
    return text;
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
      void this.#fleet.retire(member);
      throw new Error(`it got port ${port} instead of ${this.#port}, since all others had ended`);
    }
    const missed: readonly News[] = [
      { type: 'cookies' },
      ...(config === this.#config ? [] : [{ type: 'config', config: this.#config } as const]),
      { type: 'local', found: this.#local },
    ];
    await Promise.all(missed.map((news) => this.#hub.inform(member, news)));
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
    if (member.state === 'serving') this.#crew.crashed();
  }

  /** Reads the configuration anew. Throws when it is wrong, or nothing is left of its file: that would take the access key away, too. */
  async #reload(): Promise<void> {
    const loaded = await loadConfig({ flags: this.#flags });
    const { config } = loaded;
    const before = this.#config;
    const isGone = before.file !== undefined && config.file === undefined;
    if (isGone || (loaded.isFileEmpty && !this.#loaded.isFileEmpty)) {
      throw new ConfigError([`the configuration file ${config.file ?? before.file} is ${isGone ? 'gone' : 'empty'}`]);
    }
    const pinned = Object.fromEntries(FIXED.map((name) => [name, before[name]]));
    const key = before.keyGenerated === true && config.keyGenerated === true ? { key: before.key } : {};
    const needRestart = FIXED.filter((name) => !isDeepStrictEqual(before[name], config[name]));
    if (needRestart.length > 0) {
      this.#log.warn({ needRestart }, `a change of ${needRestart.join(', ')} needs ${WHOLE}`);
    }
    this.#loaded = { ...loaded, config: { ...config, ...pinned, ...key } as Config };
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
        this.#loaded = { ...this.#loaded, config, isFileEmpty: false };
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
            if (!told.has(line)) this.#output.write(`${line}\n`);
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
    this.#crew.stop();
    this.#localWatch?.close();
    this.#configWatch?.close();
    this.#sweep?.stop();
    await this.#fleet.stop();
    await Promise.all([this.#ledger.close(), this.#hub.close()]);
    await this.#stores.close();
  }
}
