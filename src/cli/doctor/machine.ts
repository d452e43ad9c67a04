import { access, constants, lstat, stat, statfs } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { createServer } from 'node:net';
import { availableParallelism, totalmem } from 'node:os';
import path from 'node:path';
import { hostAndPort } from '../../config/bind.ts';
import type { Config } from '../../config/config.ts';
import { get } from '../../core/node-http.ts';
import { parseObject } from '../../core/objects.ts';
import { examineDatabase } from '../../stores/index.ts';
import { listenFailure } from '../listen-failure.ts';
import { type Finding, good, note, wrong } from './finding.ts';

const GB = 1_024 ** 3;
/** The embedded model is unpacked into the data folder, and chats and uploads want some room too. */
const ROOM = GB;
const ANSWER_MS = 1_000;
const ANOTHER_FOLDER = 'choose another folder with --data-dir, SLUICE_DATA_DIR or dataDir in sluice.yaml';

/** The machine: Node, memory, data folder, port. Changes nothing. */
export async function examineMachine(config: Config): Promise<Finding[]> {
  const system = `${process.platform} ${process.arch}`;
  const size = `${availableParallelism()} cores, ${(totalmem() / GB).toFixed(1)} GB of memory`;
  return [
    good(`Node ${process.versions.node} on ${system}, ${size}`),
    ...(await dataFolder(config.dataDir)),
    ...(await database(config)),
    await port(config.bind),
  ];
}

async function dataFolder(dataDir: string): Promise<Finding[]> {
  const existing = await nearestExisting(dataDir);
  const mend = ANOTHER_FOLDER;
  const found = await stat(existing).catch(() => undefined);
  if (found === undefined)
    return [wrong(`data folder ${dataDir}: ${existing} is a symbolic link that leads nowhere`, mend)];
  if (!found.isDirectory()) return [wrong(`data folder ${dataDir}: ${existing} is a file`, mend)];
  const isWritable = await access(existing, constants.W_OK | constants.X_OK).then(
    () => true,
    () => false,
  );
  if (!isWritable) return [wrong(`data folder ${dataDir}: no permission to write in ${existing}`, mend)];
  const { bavail, bsize } = await statfs(existing);
  const free = bavail * bsize;
  const state = existing === dataDir ? 'can be written' : 'does not exist yet and can be made';
  const text = `data folder ${dataDir} ${state}, ${(free / GB).toFixed(1)} GB are free`;
  return [free < ROOM ? wrong(text, `make room (1 GB at least), or ${mend}`) : good(text)];
}

async function database(config: Config): Promise<Finding[]> {
  const isOnServer = config.database !== undefined;
  const { name, reason, isInUse = false } = (await examineDatabase(config)) ?? {};
  if (reason !== undefined) {
    const mend = isOnServer
      ? 'put the server or the address in order (--database, SLUICE_DATABASE or database in sluice.yaml)'
      : `put that file in order, or ${ANOTHER_FOLDER}`;
    return [wrong(`database ${name}: ${reason}`, mend)];
  }
  if (isInUse) return [note('a running Sluice uses this data folder', `for a second one ${ANOTHER_FOLDER}`)];
  return isOnServer ? [good(`database ${name} can be used`)] : [];
}

async function nearestExisting(folder: string): Promise<string> {
  const exists = await lstat(folder).then(
    () => true,
    () => false,
  );
  const parent = path.dirname(folder);
  return exists || parent === folder ? folder : await nearestExisting(parent);
}

async function port(bind: Config['bind']): Promise<Finding> {
  const address = hostAndPort(bind.host, bind.port);
  const error = await tryToListen(bind);
  if (error === undefined) return good(`${address} is free to listen on`);
  if (error.code !== 'EADDRINUSE') return wrong(listenFailure(error, bind).message);
  const answering = await whoAnswers(bind);
  if (answering.sluice !== undefined) return note(`${answering.sluice} is running on ${address} already`);
  const who = answering.server === undefined ? '' : ` by something that calls itself "${answering.server}"`;
  const other = hostAndPort(bind.host, bind.port + 1 > 65_535 ? bind.port - 1 : bind.port + 1);
  return wrong(
    `port ${bind.port} on ${bind.host} is in use${who}`,
    `end that program, or choose another port: --bind ${other}`,
  );
}

function tryToListen({ host, port: number }: Config['bind']): Promise<NodeJS.ErrnoException | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', resolve);
    server.listen({ host, port: number, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}

/** Asks the program behind the port who it is. It is not shown our access key: it may be any program. */
function whoAnswers({ host, port: number }: Config['bind']): Promise<{ sluice?: string; server?: string }> {
  const target = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return new Promise((resolve) => {
    const options = { host: target, port: number, path: '/backend-api/v2/version', agent: false, timeout: ANSWER_MS };
    const request = get({ ...options, headers: { accept: 'application/json' } }, (response) => {
      const server = response.headers['server']?.toString();
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (piece: string) => {
        text += piece;
        if (text.length > 10_000) request.destroy();
      });
      response.on('close', () => resolve({ ...sluiceOf(response, text), ...(server === undefined ? {} : { server }) }));
    });
    request.on('timeout', () => request.destroy());
    request.on('error', () => resolve({}));
  });
}

function sluiceOf({ statusCode, headers }: IncomingMessage, text: string): { sluice?: string } {
  // What one with a key answers to whoever does not show it (http/edge/errors.ts).
  const asksForKey = statusCode === 401 && headers['www-authenticate']?.includes('realm="Sluice"');
  if (asksForKey === true) return { sluice: 'a Sluice that asks for its access key' };
  const { version, latest_version: latest } = parseObject(text) ?? {};
  // Both together: the answer of dialect A, which hardly anything else gives at this path.
  return typeof version === 'string' && latest !== undefined ? { sluice: `Sluice ${version}` } : {};
}
