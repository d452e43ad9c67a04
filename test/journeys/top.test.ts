import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { existsSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { queryObjects } from 'node:v8';
import { top } from '../../src/cli/top/index.ts';
import type { Terminal } from '../../src/cli/top/live.ts';
import { eventually } from '../support/eventually.ts';
import { unusedPort } from '../support/plain-server.ts';
import { secureServer } from '../support/secure-server.ts';
import { chat, entryOf, type ObservedWorld, openObserved } from './observe-world.ts';

const KEY = 'access-key-of-the-test';
const TOP = fileURLToPath(new URL('../../src/cli/top/index.ts', import.meta.url));
const SCRIPT = '/usr/bin/script';

/** A terminal, or a pipe, that a test can look at and type into. */
class FakeTerminal implements Terminal {
  readonly input = Object.assign(new EventEmitter(), {
    isRaw: false,
    resume: () => {},
    pause: () => {},
    setRawMode: (raw: boolean) => {
      this.input.isRaw = raw;
    },
  });
  readonly output;
  text = '';

  constructor(isTTY: boolean) {
    const write = (text: string): void => {
      this.text += text;
    };
    this.output = Object.assign(new EventEmitter(), { isTTY, columns: 100, rows: 30, write });
  }

  type(keys: string): void {
    this.input.emit('data', Buffer.from(keys));
  }

  async until(words: RegExp): Promise<void> {
    await eventually(`${words} on the screen`, () => words.test(this.text));
  }
}

describe('sluice top', { timeout: 60_000 }, () => {
  let world: ObservedWorld;
  const authorization = { authorization: `Bearer ${KEY}` };
  before(async () => {
    world = await openObserved({}, `key: ${KEY}`);
    await chat(world, { model: 'openai/gpt-4o' }, authorization);
  });
  after(() => world.close());

  test('prints once into a pipe', async () => {
    const pipe = new FakeTerminal(false);
    await top({ url: world.origin, key: KEY, interval: '0.1' }, pipe, {});
    assert.match(pipe.text, new RegExp(`Sluice .* at ${world.origin}`));
    assert.match(pipe.text, /PROVIDER +ANSWERS/);
    assert.match(pipe.text, /openai +1 +0/);
    assert.match(pipe.text, /200 .* openai +openai\/gpt-4o\n/);
    assert.ok(!pipe.text.includes('\x1b') && !pipe.text.includes(KEY));
  });

  test('says what is wrong in a line', async () => {
    const pipe = new FakeTerminal(false);
    await assert.rejects(top({ url: world.origin }, pipe, {}), /asks for its access key: give it with --key/);
    await assert.rejects(
      top({ url: world.origin, key: 'planted-key' }, pipe, {}),
      ({ message }: Error) =>
        /has another access key than the one given: give it/.test(message) && !message.includes('planted'),
    );
    const gone = `http://127.0.0.1:${await unusedPort()}`;
    await assert.rejects(top({ url: gone }, pipe, {}), /cannot be reached .*ECONNREFUSED/);
    await assert.rejects(top({ url: 'http://127.0.0.1:6000' }, pipe, {}), /cannot be reached .*\(bad port\)/);
    await assert.rejects(top({ url: 'nonsense' }, pipe, {}), /--url: got nonsense; allowed/);
    await assert.rejects(top({ interval: '0' }, pipe, {}), /--interval: got 0; allowed/);
    await assert.rejects(top({ url: world.acme.origin }, pipe, {}), /answers 404/);
    assert.equal(pipe.text, '');
  });

  test('a key that no header can carry is refused and not shown', async () => {
    const pipe = new FakeTerminal(false);
    const place = { url: world.origin };
    for (const [flags, environment, name] of [
      [place, { SLUICE_KEY: 'planted\nkey' }, 'SLUICE_KEY'],
      [{ ...place, key: 'planted key' }, {}, '--key'],
    ] as const) {
      const message = `${name}: got a text, which is hidden here; allowed: a text of visible ASCII characters without blanks, or none`;
      await assert.rejects(top(flags, pipe, environment), { message });
    }
    await top({ ...place, interval: '0.1' }, pipe, { SLUICE_KEY: ` ${KEY}\n` });
    assert.match(pipe.text, /PROVIDER/);
  });

  test('is live on a terminal, draws anew when that changes, and leaves it as it was', async () => {
    const terminal = new FakeTerminal(true);
    const running = top({ url: world.origin, interval: '0.1' }, terminal, { SLUICE_KEY: KEY, NO_COLOR: '1' });
    await terminal.until(/openai +1 /);
    assert.ok(terminal.text.startsWith('\x1b[?1049h') && terminal.input.isRaw);
    await chat(world, { model: 'openai/gpt-4o' }, authorization);
    await terminal.until(/openai +2 /);
    terminal.text = '';
    Object.assign(terminal.output, { columns: 30, rows: 5 });
    terminal.output.emit('resize');
    const [, drawn = ''] = terminal.text.split('\x1b[H');
    assert.ok(drawn.split('\r\n').length <= 5);
    terminal.type('x');
    terminal.type('q');
    await running;
    assert.ok(terminal.text.endsWith('\x1b[?25h\x1b[?1049l') && !terminal.input.isRaw);
    assert.equal(terminal.output.listenerCount('resize') + terminal.input.listenerCount('data'), 0);
  });

  test('remembers nothing of each look, however long it is watched', async () => {
    const terminal = new FakeTerminal(true);
    const running = top({ url: world.origin, interval: '0.1' }, terminal, { SLUICE_KEY: KEY });
    const looks = (): number => terminal.text.split('\x1b[H').length - 1;
    await eventually('a few looks', () => looks() >= 5);
    const promises = (): number => Number(queryObjects(Promise));
    const [first, before] = [looks(), promises()];
    await eventually('many more', () => looks() >= first + 30);
    const kept = promises() - before;
    terminal.type('q');
    await running;
    assert.ok(kept < 30, `${kept} promises of ${looks() - first} looks are kept`);
  });

  for (const keys of ['\x03\x03', 'qq', '\x1b\x1b', '\x1b[A\x03', 'xq']) {
    test(`ends also when keys come together, as from afar: ${JSON.stringify(keys)}`, async () => {
      const terminal = new FakeTerminal(true);
      const running = top({ url: world.origin, interval: '3600' }, terminal, { SLUICE_KEY: KEY });
      await terminal.until(/openai/);
      terminal.type('\x1b[A');
      terminal.type('\x1b[1;2Q');
      terminal.type('\x1b\x1b[A');
      await turn();
      assert.ok(terminal.input.isRaw, 'other keys do nothing');
      terminal.type(keys);
      await running;
      assert.ok(!terminal.input.isRaw);
    });
  }

  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    test(`leaves the terminal as it was on ${signal}`, async () => {
      const terminal = new FakeTerminal(true);
      const running = top({ url: world.origin }, terminal, { SLUICE_KEY: KEY });
      await terminal.until(/PROVIDER/);
      process.kill(process.pid, signal);
      await running;
      assert.ok(terminal.text.endsWith('\x1b[?1049l') && !terminal.input.isRaw);
    });
  }

  test('says that it does not trust the certificate, and not that nobody is there', async (context) => {
    const { origin } = await secureServer(context, (_request, response) => response.end());
    await assert.rejects(top({ url: origin }, new FakeTerminal(false), {}), {
      message: `the certificate of ${origin} is not trusted here (DEPTH_ZERO_SELF_SIGNED_CERT); name a file with the certificate of who signed it in NODE_EXTRA_CA_CERTS`,
    });
  });

  test('goes on when Sluice is restarted, and says so', async () => {
    const other = await openObserved();
    await entryOf(other, (await chat(other)).id);
    const terminal = new FakeTerminal(true);
    const running = top({ url: other.origin, interval: '0.1' }, terminal, {});
    await terminal.until(/acme +1 /);
    await other.close();
    await terminal.until(/cannot be reached/);
    terminal.type('\x03');
    await running;
  });

  test('works in a pseudo-terminal', { skip: !existsSync(SCRIPT) && 'there is no script(1)' }, async () => {
    const flags = JSON.stringify({ url: world.origin, key: KEY, interval: '0.1' });
    const code = `import('${TOP}').then(({ top }) => top(${flags})).then(() => process.exit(0))`;
    const child = spawn(SCRIPT, ['-qec', `'${process.execPath}' -e "$TOP_CODE"`, '/dev/null'], {
      env: { PATH: process.env['PATH'], TOP_CODE: code, TERM: 'xterm' },
    });
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (more: string) => {
      const isNew = !text.includes('PROVIDER');
      text += more;
      if (isNew && text.includes('PROVIDER')) child.stdin.write('q');
    });
    const ended = await new Promise((resolve) => child.on('exit', resolve));
    assert.equal(ended, 0, text);
    const [, inside = '', rest] = text.split(/\[\?1049[hl]/);
    assert.match(inside, /PROVIDER/);
    assert.notEqual(rest, undefined, 'the screen was left');
  });
});
