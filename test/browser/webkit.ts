import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { unusedPort } from '../support/plain-server.ts';
import { type Driven, type DrivenPage, type Json, pressing } from './driven.ts';
import { eventually } from './eventually.ts';

const DRIVER = '/usr/bin/WebKitWebDriver';
const SCREEN = '/usr/bin/Xvfb';

/** For the `skip` option of tests: false when there is a WebKit, else what is missing. */
export const withoutWebKit =
  !(existsSync(DRIVER) && existsSync(SCREEN)) &&
  'no WebKit on this machine; on Debian: apt-get install webkit2gtk-driver xvfb';

/** What Safari is made of, in a window of GTK on a screen that nobody sees, driven by WebDriver (https://www.w3.org/TR/webdriver2/). */
export async function launchWebKit(): Promise<Driven> {
  const folder = mkdtempSync(path.join(tmpdir(), 'sluice-webkit-'));
  const running: ChildProcess[] = [];
  const close = async (): Promise<void> => {
    for (const each of running.reverse()) {
      const gone = once(each, 'exit');
      if (each.kill()) await gone;
    }
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  };
  try {
    const screen = spawn(SCREEN, ['-displayfd', '3', '-screen', '0', '1400x1000x24'], {
      stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
    });
    running.push(screen);
    const [display] = await once(createInterface(screen.stdio[3] as Readable), 'line');
    const port = await unusedPort();
    running.push(
      spawn(DRIVER, ['--host=127.0.0.1', `--port=${port}`], {
        stdio: 'ignore',
        env: {
          ...process.env,
          DISPLAY: `:${display}`,
          GDK_BACKEND: 'x11',
          GTK_THEME: 'Adwaita:dark',
          LANG: 'en_GB.UTF-8',
          WEBKIT_DISABLE_COMPOSITING_MODE: '1',
          XDG_DATA_HOME: folder,
          XDG_CACHE_HOME: folder,
        },
      }),
    );
    const { page, send } = await openSession(`http://127.0.0.1:${port}`);
    return {
      page,
      complaints: () => page.evaluate('window.complaints'),
      close: async () => {
        await send('DELETE', '');
        await close();
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

type Send = <Value>(method: string, path: string, body?: Json) => Promise<Value>;

async function openSession(origin: string): Promise<{ page: DrivenPage; send: Send }> {
  const ask = async <Value>(method: string, place: string, body?: Json): Promise<Value> => {
    const answer = await fetch(`${origin}${place}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    });
    const { value } = (await answer.json()) as { value: Json | null };
    if (answer.ok) return value as Value;
    throw new Error(`${value?.['error']}: ${value?.['message']}`);
  };
  await eventually(() => ask('GET', '/status'));
  const { sessionId } = await ask<{ sessionId: string }>('POST', '/session', { capabilities: {} });
  const send: Send = (method, place, body) => ask(method, `/session/${sessionId}${place}`, body);
  return { page: pageOf(send), send };
}

/** Nobody else tells of them here. */
const LISTEN = `
  window.complaints = [];
  addEventListener('error', ({ message }) => complaints.push(message));
  addEventListener('unhandledrejection', ({ reason }) => complaints.push(String(reason)));
`;

function pageOf(send: Send): DrivenPage {
  const listen = (): Promise<unknown> => send('POST', '/execute/sync', { script: LISTEN, args: [] });
  return {
    goTo: async (url) => {
      await send('POST', '/url', { url });
      await listen();
    },
    reload: async () => {
      await send('POST', '/refresh', {});
      await listen();
    },
    evaluate: async (expression) => {
      const script = `return (async () => JSON.stringify(await (${expression})) ?? 'null')()`;
      return JSON.parse(await send<string>('POST', '/execute/sync', { script, args: [] }));
    },
    press: (...keys) => send('POST', '/actions', { actions: pressing(keys) }),
    choose: async (value, text) => {
      const [id] = Object.values(await send<Json>('POST', '/element', { using: 'css selector', value }));
      await send('POST', `/element/${id}/value`, { text });
    },
  };
}
