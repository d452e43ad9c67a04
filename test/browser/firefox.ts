import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { type Driven, type DrivenPage, type Json, pressing } from './driven.ts';

const executable = ['/usr/bin/firefox-esr', '/usr/bin/firefox'].find((place) => existsSync(place));

/** For the `skip` option of tests: false when there is a Firefox, else what is missing. */
export const withoutFirefox =
  executable === undefined && 'no Firefox on this machine; on Debian: apt-get install firefox-esr';

/** As on a desk: a mouse, and a dark system. Everything else is what Firefox recommends for being driven, which keeps it offline. */
const PREFERENCES = {
  'ui.primaryPointerCapabilities': 6,
  'ui.allPointerCapabilities': 6,
  'ui.systemUsesDarkTheme': 1,
  'intl.accept_languages': 'en-GB',
};

/** Starts the Firefox that the machine has, without a past, with one page, driven by WebDriver BiDi (https://www.w3.org/TR/webdriver-bidi/). */
export async function launchFirefox(): Promise<Driven> {
  if (executable === undefined) throw new Error(String(withoutFirefox));
  const profile = mkdtempSync(path.join(tmpdir(), 'sluice-firefox-'));
  const lines = Object.entries(PREFERENCES).map((each) => `user_pref(${each.map((one) => JSON.stringify(one))});`);
  writeFileSync(path.join(profile, 'user.js'), lines.join('\n'));
  const options = ['--headless', '--no-remote', '--profile', profile, '--remote-debugging-port', '0'];
  const browser = spawn(executable, options, { stdio: ['ignore', 'ignore', 'pipe'] });
  const gone = once(browser, 'exit');
  const close = async (): Promise<void> => {
    browser.kill();
    await gone;
    rmSync(profile, { recursive: true, force: true, maxRetries: 10 });
  };
  try {
    const complaints: string[] = [];
    const send = await connect(await addressOf(browser), (method, { level, text }) => {
      if (method === 'log.entryAdded' && level === 'error') complaints.push(String(text));
    });
    await send('session.new', { capabilities: {} });
    await send('session.subscribe', { events: ['log.entryAdded'] });
    const { context } = await send('browsingContext.create', { type: 'tab' });
    return { page: pageIn(context, send), complaints: async () => complaints, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Where it listens, which it says itself. */
async function addressOf({ stderr }: ChildProcess): Promise<string> {
  if (stderr === null) throw new Error('Firefox has no standard error');
  for await (const line of createInterface(stderr)) {
    const [, address] = /WebDriver BiDi listening on (ws:\S+)/.exec(line) ?? [];
    if (address === undefined) continue;
    // Nobody reads on otherwise, and it would wait for that.
    stderr.resume();
    return address;
  }
  throw new Error('Firefox has ended before it could be driven');
}

type Send = (method: string, params: Json) => Promise<Json>;

async function connect(address: string, onEvent: (method: string, params: Json) => void): Promise<Send> {
  const line = new WebSocket(`${address}/session`);
  const waiting = new Map<unknown, PromiseWithResolvers<Json>>();
  line.addEventListener('message', ({ data }) => {
    const { id, type, method, params, result, error, message } = JSON.parse(String(data));
    if (type === 'event') return onEvent(method, params);
    if (type === 'error') waiting.get(id)?.reject(new Error(`${error}: ${message}`));
    else waiting.get(id)?.resolve(result);
    waiting.delete(id);
  });
  line.addEventListener('close', () => {
    for (const { reject } of waiting.values()) reject(new Error('Firefox is gone'));
  });
  await once(line, 'open');
  let last = 0;
  return (method, params) => {
    const answer = Promise.withResolvers<Json>();
    last += 1;
    waiting.set(last, answer);
    line.send(JSON.stringify({ id: last, method, params }));
    return answer.promise;
  };
}

function pageIn(context: unknown, send: Send): DrivenPage {
  const run = async (expression: string): Promise<Json> => {
    const params = { expression, target: { context }, awaitPromise: true };
    const { type, result, exceptionDetails } = await send('script.evaluate', params);
    if (type !== 'success') throw new Error(String((exceptionDetails as Json)['text']));
    return result as Json;
  };
  return {
    goTo: async (url) => void (await send('browsingContext.navigate', { context, url, wait: 'complete' })),
    reload: async () => void (await send('browsingContext.reload', { context, wait: 'complete' })),
    evaluate: async (expression) => {
      const { value } = await run(`(async () => JSON.stringify(await (${expression})) ?? 'null')()`);
      return JSON.parse(String(value));
    },
    press: async (...keys) => void (await send('input.performActions', { context, actions: pressing(keys) })),
    choose: async (selector, file) => {
      const { sharedId } = await run(`document.querySelector(${JSON.stringify(selector)})`);
      await send('input.setFiles', { context, element: { sharedId }, files: [file] });
    },
  };
}
