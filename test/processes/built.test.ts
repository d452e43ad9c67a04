import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { temporaryFolder } from '../support/config-folder.ts';
import { eventually } from '../support/eventually.ts';
import { startOpenAiUpstream } from '../support/openai-upstream.ts';
import { runSluice, startSluice } from '../support/run-sluice.ts';
import { usageLines } from '../support/usage.ts';

const ROOT = path.join(import.meta.dirname, '../..');
const MINUTE = 60;

/** A package whose code only says which of the two it is. Everything in it is an hour old. */
function packageThatTells(context: { after(done: () => void): void }) {
  const folder = temporaryFolder(context);
  const at = (name: string): string => path.join(folder, name);
  const age = (name: string, minutes: number): void => {
    const time = Date.now() / 1000 - minutes * MINUTE;
    utimesSync(at(name), time, time);
  };
  cpSync(path.join(ROOT, 'bin'), at('bin'), { recursive: true });
  for (const name of ['src/http', 'dist', 'node_modules']) mkdirSync(at(name), { recursive: true });
  writeFileSync(at('package.json'), '{ "type": "module" }');
  writeFileSync(at('node_modules/.package-lock.json'), '{}');
  writeFileSync(at('src/main.ts'), `console.log('sources' as string);`);
  writeFileSync(at('src/http/route.ts'), 'export {};');
  writeFileSync(at('dist/main.js'), `console.log('built');`);
  const inputs = [
    'package.json',
    'node_modules/.package-lock.json',
    'src/main.ts',
    'src/http/route.ts',
    'src/http',
    'src',
  ];
  for (const name of inputs) age(name, 60);
  age('dist/main.js', 50);
  return {
    folder,
    at,
    age,
    async tells(): Promise<string> {
      const { stdout, stderr } = await runSluice(context, [], { folder, command: at('bin/sluice.js') });
      assert.equal(stderr, '');
      return stdout.trim();
    },
  };
}

describe('the code that a start runs', () => {
  test('is what was built, as long as nothing has changed since', async (context) => {
    const it = packageThatTells(context);
    assert.equal(await it.tells(), 'built');
    for (const input of ['src/main.ts', 'src/http/route.ts', 'package.json', 'node_modules/.package-lock.json']) {
      it.age(input, 40);
      assert.equal(await it.tells(), 'sources', `${input} has changed`);
      it.age(input, 60);
      assert.equal(await it.tells(), 'built', `${input} is old again`);
    }
  });

  test('is the sources once one of them is gone, or another came with an old time', async (context) => {
    const gone = packageThatTells(context);
    rmSync(gone.at('src/http/route.ts'));
    assert.equal(await gone.tells(), 'sources');
    const come = packageThatTells(context);
    writeFileSync(come.at('src/http/other.ts'), 'export {};');
    come.age('src/http/other.ts', 60);
    assert.equal(await come.tells(), 'sources');
  });

  test('is the sources where nothing was built, or a build was broken off', async (context) => {
    const it = packageThatTells(context);
    rmSync(it.at('dist/main.js'));
    assert.equal(await it.tells(), 'sources');
    rmSync(it.at('dist'), { recursive: true });
    assert.equal(await it.tells(), 'sources');
  });

  test('is what was built in a published package, whatever the times of its files', async (context) => {
    const it = packageThatTells(context);
    it.age('package.json', 10);
    rmSync(it.at('src'), { recursive: true });
    assert.equal(await it.tells(), 'built');
  });
});

/** The package as it is published: built, and without its sources. */
function publishedPackage(context: { after(done: () => void): void }): string {
  const folder = temporaryFolder(context);
  for (const name of ['bin', 'src', 'scripts', 'package.json']) {
    cpSync(path.join(ROOT, name), path.join(folder, name), { recursive: true });
  }
  for (const name of ['node_modules', 'web']) symlinkSync(path.join(ROOT, name), path.join(folder, name), 'junction');
  execFileSync(process.execPath, [path.join(folder, 'scripts/build.js')]);
  rmSync(path.join(folder, 'src'), { recursive: true });
  return path.join(folder, 'bin/sluice.js');
}

describe('the built server', { timeout: 120_000 }, () => {
  let command: string;
  const removals: (() => void)[] = [];
  before(() => {
    command = publishedPackage({ after: (done) => void removals.push(done) });
  });
  after(() => {
    for (const remove of removals) remove();
  });

  test('has the time at which its build began: what is changed meanwhile is newer', () => {
    const dist = path.join(path.dirname(command), '../dist');
    const timeOf = (name: string): number => statSync(path.join(dist, name)).mtimeMs;
    const others = readdirSync(dist).filter((name) => name !== 'main.js');
    assert.ok(others.length > 10);
    for (const name of others) assert.ok(timeOf('main.js') < timeOf(name), name);
  });

  /** Sluice with the given options, its address, and an upstream behind it. */
  async function open(context: { after(done: () => void): void }, words: readonly string[]) {
    const upstream = await startOpenAiUpstream();
    context.after(() => upstream.close());
    const folder = temporaryFolder(context);
    writeFileSync(
      path.join(folder, 'sluice.yaml'),
      `providers: { mock: { kind: openai, baseUrl: '${upstream.baseUrl}', apiKey: sk-test, models: [m] } }
detectLocal: false
`,
    );
    const running = startSluice(context, ['--bind', '127.0.0.1:0', ...words], { folder, command });
    const [, origin = ''] = await running.said(/Page +(http:\/\/\S+)\//);
    const ask = async (): Promise<string> => {
      const response = await fetch(`${origin}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hi' }] }),
      });
      assert.equal(response.status, 200);
      const { choices } = (await response.json()) as { choices: { message: { content: string } }[] };
      return choices[0]?.message.content ?? '';
    };
    return { folder, origin, running, ask };
  }

  test('answers, and its threads and processes are found: storage, documents, a voice', async (context) => {
    const { origin, running, ask } = await open(context, []);
    assert.equal(await ask(), 'Hello from the upstream.');
    await eventually('usage is stored', async () => (await usageLines(origin)).some((line) => line.includes('"mock"')));
    for (const page of ['/', '/docs/', '/openapi.json'])
      assert.equal((await fetch(`${origin}${page}`)).status, 200, page);
    const form = new FormData();
    const document = readFileSync(path.join(ROOT, 'test/fixtures/documents/writer.docx'));
    form.append('file', new Blob([document]), 'writer.docx');
    const converted = await fetch(`${origin}/api/markitdown`, { method: 'POST', body: form });
    assert.equal(converted.status, 200, 'documents');
    assert.match(await converted.text(), /"provider":"sluice"/);
    const spoken = await fetch(`${origin}/backend-api/v2/synthesize/flite?text=Hello&format=wav`);
    assert.equal(Buffer.from(await spoken.arrayBuffer()).toString('latin1', 0, 4), 'RIFF', 'a voice');
    running.process.kill('SIGTERM');
    const { code, stderr } = await running.ended;
    assert.equal(code, 0);
    assert.doesNotMatch(stderr, /"level":"(warn|error)"/);
  });

  test('serves one port with several processes', async (context) => {
    const { running, ask } = await open(context, ['--workers', '2']);
    for (let n = 0; n < 4; n += 1) assert.equal(await ask(), 'Hello from the upstream.');
    running.process.kill('SIGTERM');
    const { code, stderr } = await running.ended;
    assert.equal(code, 0);
    assert.doesNotMatch(stderr, /"level":"(warn|error)"/);
  });

  test('says what to do where another version was installed over it while it runs', async (context) => {
    const { folder, origin, running } = await open(context, []);
    mkdirSync(path.join(folder, 'models'));
    writeFileSync(path.join(folder, 'models/mine.gguf'), 'never read');
    const dist = path.join(path.dirname(command), '../dist');
    const before = `${dist}-before`;
    renameSync(dist, before);
    try {
      const body = JSON.stringify({ model: 'embedded/mine', messages: [{ role: 'user', content: 'Hi' }] });
      const form = new FormData();
      form.append('files', new Blob(['<p>Hi</p>']), 'page.html');
      for (const [what, answer] of [
        ['a voice', await fetch(`${origin}/backend-api/v2/synthesize/flite?text=Hello`)],
        ['documents', await fetch(`${origin}/backend-api/v2/files/my-bucket`, { method: 'POST', body: form })],
        [
          'the embedded model',
          await fetch(`${origin}/v1/chat/completions`, {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body,
          }),
        ],
      ] as const) {
        assert.equal(answer.status, 500, what);
        assert.match(await answer.text(), /missing, perhaps because it was updated while it ran: start it again/, what);
      }
    } finally {
      renameSync(before, dist);
    }
    running.process.kill('SIGTERM');
    await running.ended;
  });

  test('reports on what it finds (sluice doctor)', async (context) => {
    const folder = temporaryFolder(context);
    const { code, stdout, stderr } = await runSluice(context, ['doctor'], { folder, command });
    assert.equal(code, 0, stdout + stderr);
    const { version } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as { version: string };
    assert.ok(stdout.includes(version));
  });
});
