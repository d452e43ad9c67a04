import { setTimeout as sleep } from 'node:timers/promises';
import { hostAndPort } from '../../config/bind.ts';
import { type Flags, keyFor } from '../../config/flags.ts';
import { loadConfig } from '../../config/load.ts';
import type { Environment } from '../../config/paths.ts';
import { wantsColour } from '../doctor/print.ts';
import { EXIT_USAGE, Failure } from '../failure.ts';
import { Live, type Terminal } from './live.ts';
import { look, newest, type Source } from './source.ts';
import { view } from './view.ts';

/** As flags give them: texts. */
export interface TopOptions {
  /** Of a running Sluice; default: the one that the configuration describes. */
  readonly url?: string;
  /** Seconds between two looks. */
  readonly interval?: string;
}

/** `sluice top`: what a running Sluice does, live on a terminal until `q`; into a pipe once, as text. */
export async function top(
  flags: Flags & TopOptions,
  terminal: Terminal = { input: process.stdin, output: process.stdout },
  environment: Environment = process.env,
): Promise<void> {
  const seconds = Number(flags.interval ?? 1);
  if (!(seconds >= 0.1 && seconds <= 3_600)) {
    throw new Failure(`--interval: got ${flags.interval}; allowed: seconds from 0.1 to 3600`, EXIT_USAGE);
  }
  const source = await sourceOf(flags, environment);
  const colour = wantsColour(terminal.output, environment);
  if (terminal.output.isTTY === true) {
    await new Live(source, seconds * 1_000, terminal, colour).run();
    return;
  }
  const before = await look(source);
  await sleep(Math.min(seconds, 5) * 1_000);
  const [now, requests] = await Promise.all([look(source), newest(source)]);
  const endless = { columns: Number.POSITIVE_INFINITY, rows: Number.POSITIVE_INFINITY, colour: false };
  terminal.output.write(`${view({ url: source.url, now, before, requests }, endless).join('\n')}\n`);
}

/** An address that was named gets no key but one that was given for it. */
async function sourceOf({ url, ...flags }: Flags & TopOptions, environment: Environment): Promise<Source> {
  if (url !== undefined) {
    const parsed = URL.canParse(url) ? new URL(url) : undefined;
    if (parsed?.protocol !== 'http:' && parsed?.protocol !== 'https:') {
      throw new Failure(`--url: got ${url}; allowed: an address such as http://127.0.0.1:1337`, EXIT_USAGE);
    }
    return { url: (parsed.origin + parsed.pathname).replace(/(?<!\/)\/+$/, ''), key: keyFor(flags, environment) };
  }
  const { config } = await loadConfig({ flags, environment });
  const { host, port } = config.bind;
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  // A key that was made up for this very run is not that of the running server.
  const key = config.keyGenerated === true ? undefined : config.key;
  return { url: `http://${hostAndPort(reachable, port)}`, key };
}
