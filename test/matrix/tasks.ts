import assert from 'node:assert/strict';
import { APIError, type OpenAI } from 'openai';
import { eventually } from '../support/eventually.ts';
import type { Overheard } from './overhear.ts';
import type { Task } from './vocabulary.ts';
import type { Seat } from './world.ts';

/** One client before one upstream, with the model that does the task there. */
export interface TaskTrial {
  readonly client: OpenAI;
  readonly seat: Seat;
  readonly model: string;
}

/** What one part of OpenAI's library asks for beside chats. */
export interface TaskClient {
  readonly title: string;
  /** The packages that it consists of. */
  readonly packages: readonly string[];
  readonly task: Task;
  /** Rejects as the client does. */
  ask(trial: TaskTrial, signal?: AbortSignal): Promise<unknown>;
  /** What it is tried with, by the name of the row. */
  readonly trials: Readonly<Record<string, (trial: TaskTrial) => Promise<void>>>;
  /** The fields that a trial asks for beside the task itself. */
  readonly fields?: Readonly<Record<string, readonly string[]>>;
}

/** Runs one of the trials, and tells which fields were dropped: those that the upstream has no place for, and no others. */
export async function tryTask(
  trial: TaskTrial & { readonly strict: OpenAI; readonly overheard: Overheard },
  client: TaskClient,
  name: string,
): Promise<readonly string[]> {
  const { overheard, seat } = trial;
  overheard.start();
  await client.trials[name]?.(trial);
  const cannot = seat.upstream.lostByTask?.[client.task] ?? {};
  const lost = (client.fields?.[name] ?? []).filter((field) => field in cannot);
  assert.deepEqual(overheard.dropped, lost.toSorted(), 'x-sluice-dropped');
  if (lost.length === 0) return lost;
  await assert.rejects(
    async () => client.trials[name]?.({ ...trial, client: trial.strict }),
    (error) => {
      assert.ok(error instanceof APIError, String(error));
      assert.deepEqual([error.status, error.code], [400, 'unsupported_field']);
      assert.ok(
        lost.some((field) => error.message.includes(`'${field}'`)),
        error.message,
      );
      return true;
    },
  );
  return lost;
}

/** The trials that all tasks share. */
export function commonTrials(ask: TaskClient['ask']): TaskClient['trials'] {
  return {
    async error(trial) {
      // A 404 says, too, that there is no such task.
      for (const status of [400, 429]) {
        trial.seat.answers({ status, errorMessage: 'Not like this.', headers: { 'retry-after': '30' } });
        await assert.rejects(ask(trial), (error) => {
          assert.ok(error instanceof APIError, String(error));
          assert.equal(error.status, status);
          assert.match(error.message, /Not like this\./);
          return true;
        });
      }
    },

    async abort(trial) {
      trial.seat.answers({ silent: true });
      const leaving = new AbortController();
      const given = assert.rejects(ask(trial, leaving.signal));
      await eventually('it is asked', () => trial.seat.seen.length > 0);
      leaving.abort();
      await given;
      assert.equal(await trial.seat.last.closed, 'aborted');
    },
  };
}

/** An upstream without the task: the client hears that, and why it makes no sense to try again. */
export async function tryMissing(trial: TaskTrial, client: TaskClient): Promise<void> {
  trial.seat.answers({ text: ['This is no answer to that.'] });
  await assert.rejects(client.ask(trial), (error) => {
    assert.ok(error instanceof APIError, String(error));
    assert.deepEqual([error.status, error.code], [501, 'not_supported']);
    return true;
  });
  assert.equal(trial.seat.seen.length, 0, 'nobody is asked in vain');
}

/** What reached the upstream, as text: forms are not taken apart. */
export function sent({ last }: Seat): string {
  return last.body === undefined ? (last.rawBody?.toString('latin1') ?? '') : JSON.stringify(last.body);
}
