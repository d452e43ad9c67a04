import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { temporaryFolder } from '../../test/support/config-folder.ts';
import { loadConfig } from '../config/load.ts';
import type { AuthNeed, Origin, Provider } from '../core/provider.ts';
import { listenFailure } from './listen-failure.ts';
import { foundText, type Started, startText } from './start-text.ts';

function provider(id: string, origin: Origin, auth: AuthNeed = { kind: 'none' }): Provider {
  return { id, label: id.toUpperCase(), origin, auth, models: async () => [] };
}

async function textOf(context: test.TestContext, flags: object, changes: Partial<Started> = {}): Promise<string> {
  const { config } = await loadConfig({ flags, environment: {}, directory: temporaryFolder(context) });
  const address = { host: config.bind.host, port: 1337 };
  const embedded = { bundled: 'ready', models: ['tiny'] } as const;
  return startText({ config, address, providers: [], embedded, notes: [], version: '1.2.3', ...changes });
}

describe('the start text', () => {
  test('on loopback', async (context) => {
    const auth = { kind: 'api_key', variable: 'GROQ_API_KEY', configured: true } as const;
    const providers = [
      provider('mock', 'file'),
      provider('groq', 'environment', auth),
      provider('embedded', 'embedded'),
    ];
    assert.equal(
      await textOf(context, {}, { providers, notes: ['azure is off'] }),
      `
Sluice 1.2.3 is ready.

  Page       http://127.0.0.1:1337/
  API        http://127.0.0.1:1337/v1   (base URL for OpenAI clients, with any API key)
  API docs   http://127.0.0.1:1337/docs
  Providers  mock         MOCK: named in the configuration file
             groq         GROQ: by GROQ_API_KEY
             embedded     EMBEDDED: a small demo model, whose answers are simple and often wrong
  Note       azure is off

  To add another provider: export OPENAI_API_KEY=… (or ANTHROPIC_API_KEY, GEMINI_API_KEY, GROQ_API_KEY, …) and start
  again, start a local server such as Ollama, or name it in sluice.yaml. "sluice doctor" checks everything.
`,
    );
  });

  test('whoever has the demo model alone is told how to fetch a better one', async (context) => {
    const alone = { providers: [provider('embedded', 'embedded')] };
    const line = /"sluice pull qwen3-0\.6b" fetches a better model that runs inside Sluice \(640 MB\)\.\n$/;
    assert.match(await textOf(context, {}, alone), line);
    const own = { ...alone, embedded: { bundled: 'ready', models: ['mine', 'tiny'] } } as const;
    assert.doesNotMatch(await textOf(context, {}, own), /sluice pull/);
    assert.doesNotMatch(await textOf(context, {}, { providers: [provider('mock', 'file')] }), /sluice pull/);
  });

  test('a provider without a label of its own is named once', async (context) => {
    const fast = { ...provider('fast', 'file'), label: 'fast' };
    assert.match(
      await textOf(context, {}, { providers: [fast] }),
      /Providers {2}fast {9}named in the configuration file\n/,
    );
  });

  test('IPv6 is written with brackets', async (context) => {
    assert.match(await textOf(context, { bind: '[::1]:1337' }), /Page {7}http:\/\/\[::1\]:1337\/\n/);
  });

  test('beyond loopback the address can be opened, with the key that was made up', async (context) => {
    const text = await textOf(context, { bind: ':1337' });
    const [, host, key] = /Page {7}http:\/\/([\d.]+):1337\/\?key=([\w-]+)\n/.exec(text) ?? [];
    assert.notEqual(host, '0.0.0.0');
    assert.match(text, new RegExp(`Access key ${key} `));
  });

  test('a key of the configuration is not shown', async (context) => {
    const text = await textOf(context, { bind: ':1337', key: 'planted-key' });
    assert.doesNotMatch(text, /planted|Access key|everybody/);
    assert.match(text, /with the access key as API key/);
  });

  test('without a key on purpose', async (context) => {
    assert.match(
      await textOf(context, { bind: ':1337', key: false }),
      /Open {7}everybody who reaches 0\.0\.0\.0:1337 can use it/,
    );
    assert.doesNotMatch(await textOf(context, { key: false }), /everybody/);
  });

  test('without a key behind a proxy', async (context) => {
    const { config } = await loadConfig({ flags: {}, environment: {}, directory: temporaryFolder(context) });
    const proxied = { ...config, allowedHosts: ['sluice.example', 'chat.example'] };
    assert.match(
      await textOf(context, {}, { config: proxied }),
      /Open {7}whoever reaches it as sluice\.example or chat\.example, through a proxy, can use it: no key is asked for/,
    );
    assert.doesNotMatch(await textOf(context, {}, { config: { ...proxied, key: 'planted-key' } }), /whoever|planted/);
  });

  test('the embedded model: the demo one, own ones, none', async (context) => {
    const providers = [provider('embedded', 'embedded')];
    const line = async (embedded: Started['embedded']) =>
      /EMBEDDED: (.*)/.exec(await textOf(context, {}, { providers, embedded }))?.[1];
    assert.equal(
      await line({ bundled: 'packed', models: ['tiny'] }),
      'a small demo model, whose answers are simple and often wrong',
    );
    assert.equal(await line({ bundled: 'ready', models: ['qwen', 'tiny'] }), 'a model of your own');
    assert.equal(await line({ bundled: 'missing', models: ['a', 'b'] }), '2 models of your own');
    assert.equal(await line({ bundled: 'missing', models: [] }), 'no model yet');
  });

  test('a file entry without its key says so; a found server is told', async (context) => {
    const auth = { kind: 'api_key', variable: 'GROQ_API_KEY', configured: false } as const;
    assert.match(
      await textOf(context, {}, { providers: [provider('groq', 'file', auth)] }),
      /GROQ: named in the configuration file, still without a key/,
    );
    assert.equal(
      foundText(provider('ollama', 'local')),
      '  Found      ollama       OLLAMA: found running on this machine',
    );
  });
});

describe('an address that cannot be had', () => {
  const cases: [code: string, host: string, port: number, line: string][] = [
    [
      'EADDRINUSE',
      '127.0.0.1',
      1337,
      'port 1337 on 127.0.0.1 is in use: end the program that uses it, or choose another port, for example --bind 127.0.0.1:1338',
    ],
    [
      'EADDRINUSE',
      '::1',
      65_535,
      'port 65535 on ::1 is in use: end the program that uses it, or choose another port, for example --bind [::1]:65534',
    ],
    [
      'EACCES',
      '127.0.0.1',
      80,
      'no permission to listen on 127.0.0.1:80: choose a port from 1024 up, for example --bind 127.0.0.1:1337',
    ],
    [
      'EADDRNOTAVAIL',
      '10.9.9.9',
      1,
      'cannot listen on 10.9.9.9:1: this machine has no address 10.9.9.9; 127.0.0.1 is for this machine only, 0.0.0.0 for all networks',
    ],
    ['EAFNOSUPPORT', '::', 1, 'cannot listen on [::]:1: this machine has no IPv6'],
    [
      'EINVAL',
      'fe80::1%eth9',
      1,
      'cannot listen on [fe80::1%eth9]:1: an address of one link needs a network interface of this machine, as in [fe80::1%eth0]',
    ],
    ['ENOTFOUND', 'no.such', 1, 'cannot listen on no.such:1: the host name no.such is not known'],
    ['EOTHER', 'h', 1, 'cannot listen on h:1: strange'],
  ];
  for (const [code, host, port, line] of cases) {
    test(`${code} on ${host}`, () => {
      assert.equal(listenFailure(Object.assign(new Error('strange'), { code }), { host, port }).message, line);
    });
  }
});
