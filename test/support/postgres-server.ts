import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { untilItWorks } from './eventually.ts';
import { unusedPort } from './plain-server.ts';

const PASSWORD = 'a pass/word@with:signs';

interface Context {
  after(done: () => unknown): void;
}

/** The folder of the server's programs, as Debian, Fedora, Homebrew and the PATH have them; undefined: it is not installed. */
function programs(): string | undefined {
  const debian = globSync('/usr/lib/postgresql/*/bin').sort((one, other) => version(other) - version(one));
  const onPath = (process.env['PATH'] ?? '').split(path.delimiter);
  return [...debian, ...onPath, '/usr/pgsql/bin'].find(
    (folder) => existsSync(path.join(folder, 'initdb')) && existsSync(path.join(folder, 'postgres')),
  );
}

const version = (folder: string): number => Number(/\d+/.exec(folder)?.[0] ?? 0);

/** Why there can be no server here; undefined: there can. For the option `skip` of a test. */
export const noPostgres: string | undefined = programs() === undefined ? 'PostgreSQL is not installed' : undefined;

/** A PostgreSQL server of its own, in a folder of its own, on a port of its own. */
export class PostgresServer {
  readonly #folder: string;
  readonly #port: number;
  readonly #programs: string;
  readonly #settings: readonly string[];
  #process: ChildProcess | undefined;
  #databases = 0;

  private constructor(folder: string, port: number, programs: string, settings: readonly string[]) {
    this.#settings = settings;
    this.#folder = folder;
    this.#port = port;
    this.#programs = programs;
  }

  /** @param settings of the server; by default it does not wait for the disk, whose loss no test plays */
  static async start(context: Context, settings: readonly string[] = ['fsync=off']): Promise<PostgresServer> {
    const folder = programs();
    if (folder === undefined) throw new Error(noPostgres);
    const server = new PostgresServer(
      mkdtempSync(path.join(tmpdir(), 'sluice-postgres-')),
      await unusedPort(),
      folder,
      settings,
    );
    context.after(async () => {
      await server.stop();
      rmSync(server.#folder, { recursive: true, force: true });
    });
    server.#initialise();
    await server.resume();
    return server;
  }

  /** The address of a new, empty database. */
  async newDatabase(settings = ''): Promise<string> {
    this.#databases += 1;
    const name = `sluice_${this.#databases}`;
    await this.ask(`create database ${name} ${settings}`);
    return this.address(name);
  }

  address(database: string, user = 'owner', password = PASSWORD): string {
    return `postgres://${user}:${encodeURIComponent(password)}@127.0.0.1:${this.#port}/${database}`;
  }

  /** Asks as the owner of the server. */
  async ask(text: string, database = 'postgres'): Promise<readonly Record<string, unknown>[]> {
    const client = new pg.Client({ connectionString: this.address(database) });
    await client.connect();
    try {
      return (await client.query(text)).rows;
    } finally {
      await client.end();
    }
  }

  /** Ends as by `immediate`: connections break, and what was not committed is gone. */
  async stop(): Promise<void> {
    const running = this.#process;
    if (running === undefined) return;
    this.#process = undefined;
    const ended = once(running, 'exit');
    running.kill('SIGQUIT');
    await ended;
  }

  /** Starts again on the same port, with all that it had. */
  async resume(): Promise<void> {
    const settings = [
      `port=${this.#port}`,
      'listen_addresses=127.0.0.1',
      'unix_socket_directories=',
      ...this.#settings,
    ];
    this.#process = spawn(
      path.join(this.#programs, 'postgres'),
      ['-D', path.join(this.#folder, 'data'), ...settings.flatMap((each) => ['-c', each])],
      { stdio: 'ignore', ...account() },
    );
    await untilItWorks(() => this.ask('select 1'));
  }

  #initialise(): void {
    const { uid, gid } = account();
    const password = path.join(this.#folder, 'password');
    writeFileSync(password, `${PASSWORD}\n`);
    if (uid !== undefined && gid !== undefined) for (const each of [this.#folder, password]) chownSync(each, uid, gid);
    const access = ['--username=owner', '--auth=scram-sha-256', `--pwfile=${password}`];
    const made = spawnSync(
      path.join(this.#programs, 'initdb'),
      ['-D', path.join(this.#folder, 'data'), ...access, '--encoding=UTF8', '--locale=C', '--no-sync'],
      { cwd: this.#folder, encoding: 'utf8', ...account() },
    );
    if (made.status !== 0) throw new Error(`initdb: ${made.stderr}`);
  }
}

/** The server refuses to be root. Where we are, it is the account that its package made, or nobody. */
export function account(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const users = readFileSync('/etc/passwd', 'utf8');
  const [, uid, gid] = /^postgres:[^:]*:(\d+):(\d+)/m.exec(users) ?? /^nobody:[^:]*:(\d+):(\d+)/m.exec(users) ?? [];
  return { uid: Number(uid), gid: Number(gid) };
}
