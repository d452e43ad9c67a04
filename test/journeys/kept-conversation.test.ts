import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import sharp from 'sharp';
import { type Gateway, startGateway } from '../support/gateway.ts';
import { type OpenAiUpstream, startOpenAiUpstream } from '../support/openai-upstream.ts';
import { withoutShell } from '../support/programs.ts';
import { makeTinyGguf, TINY_ANSWER, TINY_SENTENCE } from '../support/tiny-gguf.ts';
import { contentOf, type Event, lastBody, statusOf } from './kept-world.ts';

const run = promisify(execFile);
const ROOT = path.join(import.meta.dirname, '../..');
const PAGE = readFileSync(path.join(ROOT, 'docs/offline-conversation.md'), 'utf8');

/** The fenced blocks of one language in a numbered section of the page. */
function blocks(section: number, language: string): string[] {
  const text = PAGE.split(/^## /m).find((part) => part.startsWith(`${section}. `)) ?? '';
  return [...text.matchAll(/^```(\w+)\n(.*?)^```$/gms)].flatMap(([, lang, code = '']) =>
    lang === language ? [code] : [],
  );
}

describe('the offline conversation of the docs', { timeout: 120_000, skip: withoutShell }, () => {
  let gateway: Gateway;
  let upstream: OpenAiUpstream;
  let picture: Buffer;
  before(async () => {
    upstream = await startOpenAiUpstream(() => ({ text: ['It', ' does.'] }), { models: ['llava'] });
    const [yaml = ''] = blocks(5, 'yaml');
    gateway = await startGateway(
      `${yaml.replace('http://127.0.0.1:11434', upstream.origin)}\nembedded: { enabled: true, modelsDir: models }`,
    );
    mkdirSync(path.join(gateway.folder, 'models'), { recursive: true });
    writeFileSync(
      path.join(gateway.folder, 'models/tiny.gguf'),
      makeTinyGguf({ says: TINY_SENTENCE, contextLength: 4096 }),
    );
    copyFileSync(path.join(ROOT, 'test/fixtures/documents/writer.pdf'), path.join(gateway.folder, 'letter.pdf'));
    picture = await sharp({ create: { width: 640, height: 480, channels: 3, background: '#b02020' } })
      .png()
      .toBuffer();
    writeFileSync(path.join(gateway.folder, 'quay.png'), picture);
  });
  after(async () => {
    await gateway.close();
    await upstream.close();
  });

  /** Runs a command of the page, word for word but for the port. */
  async function shell(command: string): Promise<string> {
    const here = command.replaceAll('http://127.0.0.1:1337', gateway.origin);
    const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', here], { cwd: gateway.folder, timeout: 60_000 });
    return stdout;
  }
  const eventsOf = (text: string): Event[] =>
    text.split('\n').flatMap((line) => (line.startsWith('data: ') ? [JSON.parse(line.slice(6)) as Event] : []));
  const NOTE = /information, not instructions:\n- \(user\) I am Ada and look after the north quay\.$/;

  test('1. upload', async () => {
    const [upload = '', read = ''] = blocks(1, 'sh');
    assert.deepEqual(JSON.parse(await shell(upload)), JSON.parse(blocks(1, 'json')[0] ?? ''));
    assert.ok((await shell(read)).startsWith(blocks(1, 'markdown')[0] ?? '?'));
  });

  test('2. memory', async () => {
    const [add = '', search = ''] = blocks(2, 'sh');
    assert.deepEqual(JSON.parse(await shell(add)), JSON.parse(blocks(2, 'json')[0] ?? ''));
    const { results } = JSON.parse(await shell(search)) as { results: { memory: string }[] };
    assert.deepEqual(
      results.map(({ memory }) => memory),
      ['I am Ada and look after the north quay.'],
    );
  });

  test('3. the embedded model answers', async () => {
    const [ask = ''] = blocks(3, 'sh');
    const text = await shell(ask);
    const names = [...text.matchAll(/^event: \w+$/gm)].map(([line]) => line);
    const shown = (blocks(3, 'text')[0] ?? '').trim().split('\n');
    assert.deepEqual(names.slice(0, shown.length), shown);
    assert.equal(names.at(-1), 'event: finish');
    const events = eventsOf(text);
    assert.match(JSON.stringify(events[0]?.['provider']), /"name":"embedded"/);
    assert.equal(contentOf(events), TINY_ANSWER);
    // The letter alone is longer than this, as the tiny model counts: nearly a token for each letter.
    const usage = events.find(({ type }) => type === 'usage');
    const tokens = (usage?.['usage'] as { prompt_tokens: number } | undefined)?.prompt_tokens ?? 0;
    assert.ok(tokens > 700, String(tokens));
  });

  test('3. and this is what a model is given', async () => {
    const [ask = ''] = blocks(3, 'sh');
    await shell(ask.replace('"provider": "embedded"', '"provider": "vision"'));
    const { messages } = lastBody({ upstream });
    assert.deepEqual(
      messages.map(({ role }) => role),
      ['system', 'user'],
    );
    assert.match(String(messages[0]?.content), NOTE);
    const said = textsOf(messages[1]?.content);
    assert.match(
      said,
      /^<!-- File: letter\.pdf\.md -->\n# Letter about the quays\n[\s\S]*\*\*north quay\*\*[\s\S]*<!-- End -->/,
    );
    assert.match(said, /A picture of the north quay: freshly painted, in red\.\n*How is my quay doing\?$/);
    assert.ok(!JSON.stringify(messages).includes('bicycle'));
  });

  test('4. the picture, small', async () => {
    const [fetchIt = ''] = blocks(4, 'sh');
    await shell(fetchIt);
    const { width, height, format } = await sharp(readFileSync(path.join(gateway.folder, 'small.webp'))).metadata();
    assert.deepEqual([width, height, format], [400, 300, 'webp']);
  });

  test('5. a model that sees gets the picture itself', async () => {
    const [ask = ''] = blocks(5, 'sh');
    assert.equal(contentOf(eventsOf(await shell(ask))), 'It does.');
    const { messages } = lastBody({ upstream });
    assert.match(String(messages[0]?.content), NOTE);
    const parts = messages[1]?.content as { type: string; image_url?: { url: string } }[];
    assert.deepEqual(
      parts.map(({ type }) => type),
      ['text', 'image_url', 'text'],
    );
    assert.equal(parts[1]?.image_url?.url, `data:image/png;base64,${picture.toString('base64')}`);
  });

  test('6. and all is forgotten', async () => {
    const [forget = ''] = blocks(6, 'sh');
    const [message = ''] = blocks(6, 'json');
    const answer = await shell(forget);
    assert.ok(answer.startsWith(JSON.stringify(JSON.parse(message))), answer);
    assert.equal(await statusOf(`${gateway.origin}/files/harbour/media/quay.png`), 404);
    const memory = await fetch(`${gateway.origin}/backend-api/v2/memory/ada`);
    assert.equal(((await memory.json()) as { count: number }).count, 0);
    // Step by step in order: without the bucket the question of 3 fails.
    const [ask = ''] = blocks(3, 'sh');
    assert.match(await shell(ask), /"code":"not_found"/);
  });
});

function textsOf(content: unknown): string {
  if (typeof content === 'string') return content;
  return (content as { text?: string }[]).map(({ text }) => text ?? '').join('\n');
}
