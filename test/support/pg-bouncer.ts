import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { untilItWorks } from './eventually.ts';
import { unusedPort } from './plain-server.ts';
import { account } from './postgres-server.ts';

const PROGRAM = [...(process.env['PATH'] ?? '').split(path.delimiter), '/usr/sbin']
  .map((folder) => path.join(folder, 'pgbouncer'))
  .find((file) => existsSync(file));

/** Why there can be no pooler here; undefined: there can. For the option `skip` of a test. */
export const noPgBouncer: string | undefined = PROGRAM === undefined ? 'PgBouncer is not installed' : undefined;

/** A PgBouncer of its own before a PostgreSQL server, on a port of its own. */
export class PgBouncer {
  /** The address of the database behind it. */
  readonly url: string;
  readonly #settings: string;
  #process: ChildProcess | undefined;

  private constructor(url: string, settings: string) {
    this.url = url;
    this.#settings = settings;
  }

  /** @param database address of one on the server itself */
  static async start(
    context: { after(done: () => unknown): void },
    database: string,
    settings: Readonly<Record<string, string | number>>,
  ): Promise<PgBouncer> {
    const address = new URL(database);
    const { port: behind, username } = address;
    const folder = mkdtempSync(path.join(tmpdir(), 'sluice-pooler-'));
    const file = (name: string, text: string) => {
      writeFileSync(path.join(folder, name), text);
      return path.join(folder, name);
    };
    address.port = `${await unusedPort()}`;
    const all = {
      listen_addr: '127.0.0.1',
      listen_port: address.port,
      unix_socket_dir: '',
      auth_type: 'plain',
      auth_file: file('users', `"${username}" "${decodeURIComponent(address.password)}"\n`),
      ...settings,
    };
    const lines = Object.entries(all).map(([name, value]) => `${name} = ${value}`);
    const databases = `[databases]\n* = host=127.0.0.1 port=${behind}\n[pgbouncer]\n`;
    const pooler = new PgBouncer(address.href, file('ini', `${databases}${lines.join('\n')}\n`));
    const { uid, gid } = account();
    if (uid !== undefined && gid !== undefined)
      for (const name of ['', 'users', 'ini']) chownSync(path.join(folder, name), uid, gid);
    context.after(async () => {
      await pooler.stop();
      rmSync(folder, { recursive: true, force: true });
    });
    await pooler.resume();
    return pooler;
  }

  /** Ends at once: connections break. */
  async stop(): Promise<void> {
    const running = this.#process;
    if (running === undefined) return;
    this.#process = undefined;
    const ended = once(running, 'exit');
    running.kill('SIGKILL');
    await ended;
  }

  /** Starts again on the same port. */
  async resume(): Promise<void> {
    this.#process = spawn(PROGRAM ?? '', ['-q', this.#settings], { stdio: 'ignore', ...account() });
    await untilItWorks(async () => {
      const client = new pg.Client({ connectionString: this.url });
      await client.connect();
      await client.end();
    });
  }
}
