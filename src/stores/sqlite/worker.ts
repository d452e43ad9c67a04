import { statSync } from 'node:fs';
import path from 'node:path';
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { makeFolderNow } from '../../core/folder.ts';
import type { Failure } from '../failure.ts';
import { Connection } from './connection.ts';
import { findDamage } from './damage.ts';
import { failureOf, needsNewConnection } from './failures.ts';
import { lockFolder } from './only-one.ts';
import type { Answer, FromWorker, Request, ToWorker } from './protocol.ts';

/**
 * The database's thread. Requests that wait while a commit is brought to the disk form the next group: under load many
 * requests share one fsync. Nothing is answered before its group is on the disk.
 */

const MOST_IN_GROUP = 256;
/** After the database could not be opened, requests fail at once for so long, in milliseconds. */
const RETRY_MS = 1_000;
/** What was deleted stands in the write-ahead log as well, at most so long after it, in milliseconds. */
const TIDY_MS = 5_000;

const file = String(workerData);
const port: MessagePort = parentPort ?? raise();
let connection: Connection | undefined;
/** False: another process has it. */
let lock: ReturnType<typeof lockFolder>;
let lastFailure: { readonly failure: Failure; readonly at: number } | undefined;
let troubled = false;
let isToTidy = false;

open();
port.on('message', (message: ToWorker) => take(message));

function take(first: ToWorker): void {
  const requests: Request[] = [];
  let message: ToWorker | undefined = first;
  while (message?.type === 'request') {
    requests.push(message.request);
    message = requests.length < MOST_IN_GROUP ? receiveMessageOnPort(port)?.message : undefined;
  }
  if (requests.length > 0) send({ type: 'answers', answers: answer(requests) });
  if (requests.some((request) => request.writes)) tidyLater();
  if (message?.type === 'check') check();
  if (message?.type === 'recover') recover();
  if (message?.type === 'close') {
    connection?.close();
    if (lock !== false) lock?.close();
    port.close();
  }
}

function answer(requests: readonly Request[]): readonly Answer[] {
  const opened = connection ?? open();
  if (!(opened instanceof Connection)) return requests.map(({ id }) => ({ id, failure: opened }));
  try {
    const answers = opened.answer(requests);
    const failed = answers.find((one) => 'failure' in one && one.failure.kind === 'storage');
    if (failed !== undefined && 'failure' in failed) trouble(failed.failure);
    else if (requests.some((request) => request.writes)) recovered();
    return answers;
  } catch (error) {
    const failure = failureOf(error);
    trouble(failure);
    if (needsNewConnection(error)) drop();
    // Reading may go on where writing does not: with a full disk, or while another program writes.
    const reads = requests.filter((request) => !request.writes);
    const failed = requests.filter((request) => request.writes || reads.length === requests.length);
    return [
      ...(reads.length > 0 && reads.length < requests.length ? answer(reads) : []),
      ...failed.map(({ id }) => ({ id, failure })),
    ];
  }
}

/** The connection, or why there is none. */
function open(): Connection | Failure {
  const now = performance.now();
  if (lastFailure !== undefined && now - lastFailure.at < RETRY_MS) return lastFailure.failure;
  try {
    makeFolderNow(path.dirname(file));
    connection = new Connection(file);
    // What a failed fsync left in the log may be in the machine's memory only, and must not come before what follows.
    if (troubled) connection.settle();
    lastFailure = undefined;
    send({ type: 'opened', milliseconds: performance.now() - now, bytes: statSync(file).size });
    recovered();
    lookForOthers();
    // A process that was killed left one.
    tidyLater();
    return connection;
  } catch (error) {
    drop();
    const failure = failureOf(error);
    lastFailure = { failure, at: performance.now() };
    trouble(failure);
    return failure;
  }
}

function lookForOthers(): void {
  if (lock !== undefined) return;
  lock = lockFolder(file);
  if (lock === false) send({ type: 'shared' });
}

function check(): void {
  try {
    send({ type: 'checked', damage: findDamage(file) });
  } catch {
    // It cannot be read just now, for example because it is locked: whoever uses it will be told.
  }
}

/** Where there is no connection, the next request opens one, and finds out by that. */
function recover(): void {
  if (!troubled || connection === undefined) return;
  try {
    connection.probe();
    recovered();
  } catch (error) {
    if (needsNewConnection(error)) drop();
  }
}

/** Empties the log, and takes the lock if the Sluice that had it has ended: the next one to start is to hear of this one. */
function tidyLater(): void {
  if (isToTidy) return;
  isToTidy = true;
  setTimeout(() => {
    isToTidy = false;
    if (lock === false) lock = lockFolder(file, 0);
    try {
      if (connection?.emptyLog() === false) tidyLater();
    } catch {
      // The next write will run into what is in the way.
    }
  }, TIDY_MS).unref();
}

function drop(): void {
  try {
    connection?.close();
  } catch {
    // It is given up because it failed; that it cannot even be closed adds nothing.
  }
  connection = undefined;
}

function trouble(failure: Failure): void {
  troubled = true;
  send({ type: 'problem', failure });
}

function recovered(): void {
  if (troubled) send({ type: 'recovered' });
  troubled = false;
}

function send(message: FromWorker): void {
  port.postMessage(message);
}

function raise(): never {
  throw new Error('the database worker runs in a worker thread only');
}
