import { storageFailed } from '../stores/failure.ts';
import type { DatabaseHandle, Result } from '../stores/sql/handle.ts';
import type { Statement } from '../stores/sql/sql.ts';
import type { Channel } from './channel.ts';
import { toError, toPlain } from './plain-error.ts';

/** The database of the primary, for a worker: there is one writer, however many processes serve. */
export class RemoteDatabase implements DatabaseHandle {
  readonly #primary: Channel;
  problem: string | undefined;

  constructor(primary: Channel) {
    this.#primary = primary;
  }

  read(...statements: readonly Statement[]): Promise<readonly Result[]> {
    return this.#ask(false, statements);
  }

  write(...statements: readonly Statement[]): Promise<readonly Result[]> {
    return this.#ask(true, statements);
  }

  recover(): void {
    // Where nobody can be asked, what is read next fails.
    if (this.problem !== undefined) void this.#primary.ask('database.recover', undefined).catch(() => {});
  }

  /** It belongs to the primary, which closes it when the last worker has gone. */
  async close(): Promise<void> {}

  async #ask(writes: boolean, statements: readonly Statement[]): Promise<readonly Result[]> {
    const plain = statements.map(({ text, values }) => ({ text, values }));
    const answer = await this.#primary.ask('database', { writes, statements: plain }).catch((error: unknown) => {
      throw storageFailed('The process that writes is gone.', error);
    });
    this.problem = answer.problem;
    if ('failure' in answer) throw toError(answer.failure);
    return answer.results;
  }
}

/** Lets a worker use the database. */
export function serveDatabase(worker: Channel, database: DatabaseHandle): void {
  worker.on('database.recover', () => {
    database.recover();
    return undefined;
  });
  worker.on('database', async ({ writes, statements }) => {
    try {
      const results = await (writes ? database.write(...statements) : database.read(...statements));
      return { results, problem: database.problem };
    } catch (error) {
      return { failure: toPlain(error), problem: database.problem };
    }
  });
}
