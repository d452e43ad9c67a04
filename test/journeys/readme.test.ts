import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Gateway, startGateway } from '../support/gateway.ts';
import { withoutShell } from '../support/programs.ts';
import { makeTinyGguf, TINY_ANSWER } from '../support/tiny-gguf.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../', import.meta.url));
const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');

/** The code of every fenced block of a language below a heading. */
function blocks(heading: string, language: string): string[] {
  const section = readme.split(/^## /m).find((part) => part.startsWith(heading)) ?? '';
  return [...section.matchAll(/^```(\w+)\n(.*?)^```$/gms)].flatMap(([, lang, code]) =>
    lang === language && code !== undefined ? [code] : [],
  );
}

describe('the examples of the README', { skip: withoutShell }, () => {
  let gateway: Gateway;
  before(async () => {
    // The bundled model takes a while on small machines; that it answers is shown by scripts/smoke.sh.
    gateway = await startGateway('embedded: { enabled: true, modelsDir: models }');
    mkdirSync(`${gateway.folder}/models`, { recursive: true });
    writeFileSync(`${gateway.folder}/models/tiny.gguf`, makeTinyGguf());
  });
  after(() => gateway.close());

  const here = (code: string): string => code.replaceAll('http://127.0.0.1:1337', gateway.origin);

  test('there are some', () => {
    assert.equal(blocks('Ask', 'sh').length, 4);
    assert.equal(blocks('Ask', 'js').length, 1);
    assert.equal(blocks('Whatever your tools speak', 'sh').length, 2);
  });

  for (const [index, code] of blocks('Whatever your tools speak', 'sh').entries()) {
    test(`other formats, example ${index + 1}`, async () => {
      const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', here(code)], { timeout: 120_000 });
      const expected = [
        /"type":"message".*"content":\[\{"type":"text","text":"[^"]+/,
        /"message":.*\n\{.*"done":true.*\n$/s,
      ];
      assert.match(stdout, expected[index] ?? /never/);
    });
  }

  test('files', async () => {
    const [code = ''] = blocks('Give it files', 'sh');
    const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', here(code)], { cwd: root, timeout: 120_000 });
    assert.match(stdout, /"files":\["office\.txt"\].*event: finish\ndata: .*\n\n$/s);
  });

  for (const [index, code] of blocks('Ask', 'sh').entries()) {
    test(`curl, example ${index + 1}`, async () => {
      const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', here(code)], { timeout: 120_000 });
      const [expected] = [
        /"content":"[^"]+".*\ndata: \[DONE\]\n\n$/s,
        /^event: provider\n.*^event: content\n.*^event: finish\ndata: .*\n\n$/ms,
        new RegExp(TINY_ANSWER.slice(0, 5)),
        /"object":"list".*"tiny"/,
      ].slice(index);
      assert.match(stdout, expected ?? /never/);
    });
  }

  test('the official client', async () => {
    const [code = ''] = blocks('Ask', 'js');
    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', here(code)], {
      cwd: root,
      timeout: 120_000,
    });
    assert.ok(stdout.trim().length > 3, stdout);
  });

  test('the two commands are the ones of package.json', () => {
    const { scripts } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
    assert.deepEqual(blocks('Start', 'sh'), ['npm ci\nnpm start\n']);
    assert.ok(typeof scripts.start === 'string');
  });
});

test('every script that a document names is there, and none is one that npm runs by itself', () => {
  const { scripts } = JSON.parse(readFileSync(`${root}/package.json`, 'utf8')) as { scripts: Record<string, string> };
  const documents = globSync(['*.md', 'docs/*.md', 'bench/*.md', 'scripts/*.ts'], { cwd: root });
  const named = documents.flatMap((file) => {
    return [...readFileSync(`${root}/${file}`, 'utf8').matchAll(/npm run ([\w:-]+)/g)].map(([, name = '']) => name);
  });
  assert.ok(named.length > 10);
  for (const name of named) assert.ok(scripts[name] !== undefined, `package.json has no script ${name}`);
  // npm runs it after each change of node_modules.
  assert.equal(scripts['dependencies'], undefined);
});

describe('every document', () => {
  const documents = globSync(['*.md', 'docs/*.md', 'bench/*.md'], { cwd: root });
  const textOf = (file: string): string => readFileSync(path.join(root, file), 'utf8');

  /** What links to its headings end with. */
  function anchorsOf(file: string): string[] {
    const headings = textOf(file)
      .replace(/^```.*?^```/gms, '')
      .matchAll(/^#+ (.*)$/gm);
    return [...headings].map(([, words = '']) =>
      words
        .toLowerCase()
        .replace(/[^\w\- ]/g, '')
        .replaceAll(' ', '-'),
    );
  }

  test('links to files and headings that are there', () => {
    for (const document of documents) {
      for (const [, link = ''] of textOf(document).matchAll(/\]\((?!https?:)([^)\s]+)\)/g)) {
        const [name = '', anchor] = link.split('#');
        const file = name === '' ? document : path.join(path.dirname(document), name);
        assert.ok(existsSync(path.join(root, file)), `${document}: ${link}`);
        if (anchor !== undefined) assert.ok(anchorsOf(file).includes(anchor), `${document}: ${link}`);
      }
    }
  });

  test('names folders and files of the sources that are there, but for the past', () => {
    for (const document of documents.filter((name) => name !== 'CHANGELOG.md')) {
      for (const [, named = ''] of textOf(document).matchAll(
        /`((?:bench|bin|docs|scripts|src|test|web)\/[\w./-]*)`/g,
      )) {
        if (named.startsWith('web/dist')) continue;
        assert.ok(existsSync(path.join(root, named)), `${document}: ${named}`);
      }
    }
  });
});
