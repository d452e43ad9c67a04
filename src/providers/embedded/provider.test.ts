import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type TestCall, type TestLogger, testCall, testLogger } from '../../../test/support/call.ts';
import { makeTinyGguf, TINY_ANSWER, TINY_SENTENCE, tokensOf } from '../../../test/support/tiny-gguf.ts';
import type { ChatRequest, Message } from '../../core/chat.ts';
import type { Batch, Chunk } from '../../core/chunk.ts';
import { SluiceError } from '../../core/errors.ts';
import { bundledState } from './bundled.ts';
import { createEmbeddedProvider, type EmbeddedOptions } from './provider.ts';

const LEFT = new SluiceError('cancelled', 'The client left.');

/** Long enough that no test outlives it: attention over it takes minutes. */
const ENDLESS_CONTEXT = 65_536;
const THINK_TEMPLATE =
  "{% for message in messages %}{{ '<|' + message['role'] + '|>' + message['content'] }}{% endfor %}" +
  "{# thoughts are between <think> and </think> #}{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}";

let folder: string;
const opened: TestProvider[] = [];

describe('the embedded provider', () => {
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-embedded-'));
    const models = {
      tiny: makeTinyGguf(),
      endless: makeTinyGguf({ says: tokensOf('tick tock'), endless: true, contextLength: ENDLESS_CONTEXT }),
      thinker: makeTinyGguf({
        says: ['<think>', 'Let', ' me', ' see.', '</think>', 'Done.'],
        template: THINK_TEMPLATE,
      }),
      broken: Buffer.from('GGUF and nothing that makes sense'),
    };
    for (const [id, bytes] of Object.entries(models)) writeFileSync(join(folder, `${id}.gguf`), bytes);
  });
  after(async () => {
    for (const { provider } of opened) await provider.close();
    rmSync(folder, { recursive: true });
  });

  describe('an embedded model', () => {
    // One engine for all of them: a start costs about a second.
    let ask: TestProvider['ask'];
    before(() => {
      ({ ask } = open());
    });

    test('streams its answer with usage and finish', async () => {
      const batches = await Array.fromAsync(ask('tiny'));
      const chunks = batches.flat();
      assert.equal(textOf(chunks), TINY_ANSWER);
      assert.ok(chunks.filter(({ type }) => type === 'content').length > 10, 'one chunk per token');
      const [usage, finish] = chunks.slice(-2);
      assert.deepEqual(finish, { type: 'finish', finish: 'stop' });
      assert.ok(usage?.type === 'usage');
      // The end token counts as well, as llama.cpp's own server counts.
      assert.equal(usage.usage.completionTokens, TINY_SENTENCE.length + 1);
      assert.equal(usage.usage.totalTokens, usage.usage.promptTokens + usage.usage.completionTokens);
      assert.equal(chunks.filter(({ type }) => type === 'usage' || type === 'finish').length, 2);
    });

    test('ends at maxTokens with length', async () => {
      const chunks = await collect(ask('tiny', { sampling: { maxTokens: 3 } }));
      assert.equal(textOf(chunks), 'Hello! This tiny');
      assert.equal(finishOf(chunks), 'length');
      assert.equal(usageOf(chunks).completionTokens, 3);
    });

    test('ends before a stop word, also one that is split over tokens', async () => {
      const within = await collect(ask('tiny', { sampling: { stop: [' model'] } }));
      assert.equal(textOf(within), 'Hello! This tiny');
      assert.equal(finishOf(within), 'stop');
      const across = await collect(ask('tiny', { sampling: { stop: ['never', 'ce: ca'] } }));
      assert.equal(textOf(across), TINY_ANSWER.slice(0, TINY_ANSWER.indexOf('ce: ca')));
      const atOnce = await collect(ask('tiny', { sampling: { stop: ['Hello'] } }));
      assert.equal(textOf(atOnce), '');
      assert.equal(finishOf(atOnce), 'stop');
    });

    test('keeps text that only began like a stop word when the limit comes', async () => {
      const chunks = await collect(ask('tiny', { sampling: { maxTokens: 3, stop: ['tiny mouse'] } }));
      assert.equal(textOf(chunks), 'Hello! This tiny');
    });

    test('keeps to a JSON schema', async () => {
      const schema = { type: 'object', properties: { answer: { enum: ['yes', 'no'] }, sure: { type: 'boolean' } } };
      const responseFormat = { type: 'json_schema', name: 'reply', schema } as const;
      const chunks = await collect(ask('tiny', { responseFormat, sampling: { temperature: 0, maxTokens: 80 } }));
      const reply = JSON.parse(textOf(chunks)) as { answer: string; sure: boolean };
      assert.ok(['yes', 'no'].includes(reply.answer));
      assert.equal(typeof reply.sure, 'boolean');
      assert.equal(finishOf(chunks), 'stop');
    });

    test('accepts schemas of every shape that it says it can follow', async () => {
      const schemas: Record<string, unknown>[] = [
        {},
        { type: 'object' },
        { type: 'object', properties: { a: {} }, additionalProperties: { type: 'integer' } },
        { type: 'array', prefixItems: [{ type: 'string' }, true], minItems: 2, maxItems: 3 },
        {
          anyOf: [
            { type: 'string', format: 'date-time' },
            { type: ['number', 'array'], items: { const: 'x' } },
          ],
        },
        {
          type: 'object',
          properties: { next: { $ref: '#/$defs/n' } },
          $defs: { n: { anyOf: [{ type: 'array', items: { $ref: '#/$defs/n' } }, { type: 'null' }] } },
        },
        { type: 'string', minLength: 256, maxLength: 256 },
      ];
      for (const schema of schemas) {
        const responseFormat = { type: 'json_schema', name: 'reply', schema } as const;
        const chunks = await collect(ask('tiny', { responseFormat, sampling: { maxTokens: 4 } }));
        assert.match(finishOf(chunks) ?? '', /^(stop|length)$/, JSON.stringify(schema));
      }
      const endless = { $ref: '#/$defs/n', $defs: { n: { $ref: '#/$defs/n' } } };
      const responseFormat = { type: 'json_schema', name: 'reply', schema: endless } as const;
      await fails(collect(ask('tiny', { responseFormat })), 'invalid_request', /No grammar/);
    });

    test('reads again only what is new in a conversation', async () => {
      const question: Message = { role: 'user', content: [{ type: 'text', text: 'A first question of some length' }] };
      const first = await collect(ask('tiny', { messages: [question] }));
      const reply: Message = { role: 'assistant', content: [{ type: 'text', text: TINY_ANSWER }] };
      const second = await collect(ask('tiny', { messages: [question, reply, question] }));
      assert.ok((usageOf(first).cachedTokens ?? 0) < usageOf(first).promptTokens / 2, 'another conversation');
      assert.ok((usageOf(second).cachedTokens ?? 0) >= usageOf(first).promptTokens);
      assert.equal(textOf(second), TINY_ANSWER);
    });

    test('leaves out the oldest turns when the context is full, and says so', async () => {
      const turn = (text: string): Message[] => [
        { role: 'user', content: [{ type: 'text', text }] },
        { role: 'assistant', content: [{ type: 'text', text: 'yes' }] },
      ];
      const messages: Message[] = [
        { role: 'system', content: [{ type: 'text', text: 'Be brief.' }] },
        ...Array.from({ length: 20 }, (_, index) => turn(`${index} ${'word '.repeat(40)}`)).flat(),
        { role: 'user', content: [{ type: 'text', text: 'And now?' }] },
      ];
      const chunks = await collect(ask('tiny', { messages }));
      assert.equal(textOf(chunks), TINY_ANSWER);
      assert.match(chunks.find((chunk) => chunk.type === 'log')?.log ?? '', /oldest messages were left out.* 2048 /);
      assert.ok(usageOf(chunks).promptTokens < 2_048);
    });

    test('refuses a message that is longer than the context, with the limit', async () => {
      for (const length of [3_000, 3_000_000]) {
        const messages: Message[] = [{ role: 'user', content: [{ type: 'text', text: 'x'.repeat(length) }] }];
        await fails(collect(ask('tiny', { messages })), 'context_length_exceeded', /2048 tokens/);
      }
      assert.equal(textOf(await collect(ask('tiny'))), TINY_ANSWER);
    });

    test('refuses media, naming it, and forced tools', async () => {
      const image = { type: 'media', kind: 'image', url: 'https://example.com/a.png' } as const;
      await fails(
        collect(ask('tiny', { messages: [{ role: 'user', content: [image] }] })),
        'not_supported',
        /an image/,
      );
      const tools = [{ name: 'weather' }];
      await fails(collect(ask('tiny', { tools, toolChoice: 'required' })), 'not_supported', /tools/);
      await fails(collect(ask('tiny', { tools, toolChoice: { name: 'weather' } })), 'not_supported', /tools/);
      assert.equal(textOf(await collect(ask('tiny', { tools, toolChoice: 'auto' }))), TINY_ANSWER);
    });

    test('is found by its exact name only', async () => {
      const names = ['../tiny', 'tiny.gguf', join(folder, 'tiny'), './tiny', 'TINY', '__proto__', 'tiny\0', 'none'];
      for (const name of names) await fails(collect(ask(name)), 'model_not_found', /no embedded model/);
    });

    test('tells thoughts from content', async () => {
      const chunks = await collect(ask('thinker'));
      const thoughts = chunks.flatMap((chunk) => (chunk.type === 'reasoning' ? [chunk.reasoning] : []));
      assert.equal(thoughts.join(''), 'Let me see.');
      assert.equal(textOf(chunks), 'Done.');
      assert.ok((usageOf(chunks).reasoningTokens ?? 0) >= 3);
    });

    test('is listed without starting anything; its context is known once it was loaded', async () => {
      const { provider, ask, log } = open();
      const listed = await provider.models({}, AbortSignal.timeout(30_000));
      assert.deepEqual(
        listed.map(({ id }) => id),
        ['broken', 'endless', 'thinker', 'tiny'],
      );
      assert.ok(listed.every(({ tools, contextLength }) => tools === false && contextLength === undefined));
      assert.deepEqual(log.lines, []);
      await collect(ask('tiny'));
      const again = await provider.models({}, AbortSignal.timeout(30_000));
      assert.equal(again.find(({ id }) => id === 'tiny')?.contextLength, 2_048);
    });
  });

  describe('places of the engine', () => {
    test('more requests than places are all answered', async () => {
      const { ask, log } = open({ parallel: 2 });
      const answers = await Promise.all(Array.from({ length: 7 }, () => collect(ask('tiny'))));
      for (const chunks of answers) assert.equal(textOf(chunks), TINY_ANSWER);
      assert.equal(pids(log).length, 1);
    });

    test('requests for different models take turns', async () => {
      const { ask, log } = open({ parallel: 2 });
      const models = ['tiny', 'thinker', 'tiny'];
      const answers = await Promise.all(models.map((model) => collect(ask(model))));
      assert.deepEqual(answers.map(textOf), [TINY_ANSWER, 'Done.', TINY_ANSWER]);
      assert.ok(pids(log).length >= 2, 'one engine per model');
    });

    test('cancelling a running request frees its place', { timeout: 60_000 }, async () => {
      const { ask, log } = open({ parallel: 1 });
      const call = testCall();
      const running = ask('endless', {}, call);
      await firstText(running);
      const next = collect(ask('endless', { sampling: { maxTokens: 2 } }));
      call.cancel(LEFT);
      await assert.rejects(collect(running), LEFT);
      assert.equal(textOf(await next), 'tick tock');
      assert.equal(pids(log).length, 1);
    });

    test('a reader that goes away frees its place', { timeout: 60_000 }, async () => {
      const { ask } = open({ parallel: 1 });
      for await (const batch of ask('endless')) if (batch.length > 0) break;
      assert.equal(textOf(await collect(ask('endless', { sampling: { maxTokens: 2 } }))), 'tick tock');
    });

    test('a request cancelled while it waits never takes a place', { timeout: 60_000 }, async () => {
      const { ask, log } = open({ parallel: 1, beatMs: 5 });
      const first = testCall();
      const running = ask('endless', {}, first);
      await firstText(running);
      const second = testCall();
      const waiting = ask('endless', {}, second);
      assert.deepEqual((await waiting.next()).value, [], 'a sign of life instead of text');
      const third = collect(ask('endless', { sampling: { maxTokens: 2 } }));
      second.cancel(LEFT);
      await assert.rejects(collect(waiting), LEFT);
      first.cancel(LEFT);
      await assert.rejects(collect(running), LEFT);
      assert.equal(textOf(await third), 'tick tock');
      assert.equal(pids(log).length, 1);
    });

    test('a call that is cancelled already asks nothing', async () => {
      const { ask, log } = open();
      const call = testCall();
      call.cancel(LEFT);
      await assert.rejects(collect(ask('tiny', {}, call)), LEFT);
      assert.deepEqual(log.lines, []);
    });

    test('too many that wait are refused', { timeout: 60_000 }, async () => {
      const { ask, provider } = open({ parallel: 1, waiting: 1, beatMs: 5 });
      const running = ask('endless');
      await firstText(running);
      const waiting = ask('endless');
      await waiting.next();
      await fails(collect(ask('endless')), 'overloaded', /wait/);
      await provider.close();
      await fails(collect(running), 'shutting_down', /shutting down/);
      await fails(collect(waiting), 'shutting_down', /shutting down/);
      await fails(collect(ask('tiny')), 'shutting_down', /shutting down/);
    });
  });

  describe('the engine process', () => {
    test('a crash fails the running answers only; others get a new engine', { timeout: 60_000 }, async () => {
      const { ask, log } = open({ parallel: 1 });
      const running = ask('endless');
      await firstText(running);
      const waiting = collect(ask('endless', { sampling: { maxTokens: 2 } }));
      kill(pids(log)[0], 'SIGKILL');
      await fails(collect(running), 'provider_failed', /engine stopped/);
      assert.equal(textOf(await waiting), 'tick tock');
      assert.equal(textOf(await collect(ask('tiny'))), TINY_ANSWER);
      assert.equal(new Set(pids(log)).size, 3);
    });

    test('a file that is no model fails its requests, with its name and without its path', async () => {
      const { ask } = open({ parallel: 1 });
      const answers = [ask('broken'), ask('broken'), ask('tiny')].map(collect);
      for (const answer of answers.slice(0, 2)) {
        await fails(answer, 'model_unusable', /cannot be loaded: 'broken\.gguf'/);
        await assert.rejects(answer, (error: Error) => !error.message.includes(folder));
      }
      assert.equal(textOf((await answers[2]) ?? []), TINY_ANSWER);
    });

    test('signals to the whole process group do not end it', { timeout: 60_000 }, async () => {
      const { ask, log } = open();
      const running = ask('endless');
      await firstText(running);
      for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) kill(pids(log)[0], signal);
      assert.equal(textOf(await collect(ask('endless', { sampling: { maxTokens: 2 } }))), 'tick tock');
      assert.equal(pids(log).length, 1);
      await running.return(undefined);
    });

    test('it ends when idle and comes back with the next request', async () => {
      const { ask, log } = open({ idleMs: 20 });
      await collect(ask('tiny'));
      await ended(pids(log)[0]);
      assert.equal(textOf(await collect(ask('tiny'))), TINY_ANSWER);
      assert.equal(pids(log).length, 2);
      assert.deepEqual(
        log.lines.filter(({ level }) => level === 'error'),
        [],
      );
    });

    test('close ends it', async () => {
      const { ask, log, provider } = open();
      await collect(ask('tiny'));
      await provider.close();
      await ended(pids(log)[0]);
    });

    test('it ends with its parent, even one that is killed', { timeout: 60_000 }, async () => {
      const parent = spawnParent();
      try {
        const [line] = (await once(parent.stdout ?? parent, 'data')) as [Buffer];
        const pid = Number(line.toString());
        assert.ok(pid > 0);
        parent.kill('SIGKILL');
        await ended(pid);
      } finally {
        parent.kill('SIGKILL');
      }
    });

    test('it does not keep a program from ending by itself', { timeout: 60_000 }, async () => {
      const parent = spawnParent({ maxTokens: 1 });
      const [code] = (await once(parent, 'exit')) as [number | null];
      assert.equal(code, 0);
    });
  });

  test('the real bundled model answers a simple question', {
    skip: bundledState('/nowhere') === 'missing',
  }, async () => {
    const log = testLogger();
    const config = { enabled: true, modelsDir: join(folder, 'none'), parallel: 1 };
    const dataDir = mkdtempSync(join(folder, 'data-'));
    const provider = createEmbeddedProvider(config, dataDir, log);
    try {
      const [model] = await provider.models({}, AbortSignal.timeout(30_000));
      assert.equal(model?.id, 'tinyllama-1.1b-chat');
      assert.match(model.label ?? '', /small demo model/);
      assert.equal(model.contextLength, 2_048);
      assert.deepEqual(log.lines, [], 'nothing was started or unpacked for the listing');
      assert.ok(provider.chat !== undefined);
      const asked = request('', { sampling: { temperature: 0, maxTokens: 12 } }, 'What is the capital of France?');
      const chunks = (await Array.fromAsync(provider.chat(asked, testCall()))).flat();
      assert.match(textOf(chunks), /Paris/);
    } finally {
      await provider.close?.();
    }
  });
});

interface TestProvider {
  readonly provider: { models: Models; close(): Promise<void> };
  readonly log: TestLogger;
  readonly ask: (model: string, changes?: Partial<ChatRequest>, call?: TestCall) => AsyncGenerator<Batch, void>;
}

type Models = ReturnType<typeof createEmbeddedProvider>['models'];

/** A provider over the folder of tiny models, without the bundled one. */
function open(options: EmbeddedOptions & { readonly parallel?: number } = {}): TestProvider {
  const log = testLogger();
  const config = { enabled: true, modelsDir: folder, parallel: options.parallel ?? 2, threads: 1 };
  const provider = createEmbeddedProvider(config, join(folder, 'data'), log, {
    contextLimit: ENDLESS_CONTEXT,
    resolve: () => assert.fail('not installed'),
    ...options,
  });
  const test: TestProvider = {
    log,
    provider: { models: provider.models, close: async () => provider.close?.() },
    async *ask(model, changes, call = testCall()) {
      assert.ok(provider.chat !== undefined);
      yield* provider.chat(request(model, changes), call);
    },
  };
  opened.push(test);
  return test;
}

function request(model: string, changes: Partial<ChatRequest> = {}, text = 'Hi'): ChatRequest {
  return {
    model,
    providers: [],
    ignored: [],
    messages: [{ role: 'user', content: [{ type: 'text', text }] }],
    sampling: {},
    downloadMedia: false,
    extra: {},
    ...changes,
  };
}

/** A program of its own that asks the endless model and prints the engine's process id. */
function spawnParent(sampling: object = {}): ChildProcess {
  const program = `
    const { createEmbeddedProvider } = await import(${JSON.stringify(import.meta.resolve('./provider.ts'))});
    let pid;
    const log = { info: (fields) => { pid ??= fields.pid; }, error() {}, debug() {}, warn() {} };
    const config = { enabled: true, modelsDir: ${JSON.stringify(folder)}, parallel: 1, threads: 1 };
    const provider = createEmbeddedProvider(config, '/nowhere', log, { contextLimit: ${ENDLESS_CONTEXT} });
    const request = ${JSON.stringify(request('endless', { sampling }))};
    const call = { signal: new AbortController().signal, onCancel: () => () => {} };
    let told = false;
    for await (const batch of provider.chat(request, call)) {
      if (batch.length > 0 && !told) console.log(pid);
      if (batch.length > 0) told = true;
    }`;
  return spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
}

async function collect(batches: AsyncIterable<Batch>): Promise<Chunk[]> {
  return (await Array.fromAsync(batches)).flat();
}

async function firstText(batches: AsyncGenerator<Batch, void>): Promise<void> {
  for (let next = await batches.next(); !next.done; next = await batches.next()) if (next.value.length > 0) return;
  assert.fail('no text came');
}

function textOf(chunks: readonly Chunk[]): string {
  return chunks.map((chunk) => (chunk.type === 'content' ? chunk.content : '')).join('');
}

function finishOf(chunks: readonly Chunk[]): string | undefined {
  return chunks.find((chunk) => chunk.type === 'finish')?.finish;
}

function usageOf(chunks: readonly Chunk[]): Extract<Chunk, { type: 'usage' }>['usage'] {
  const chunk = chunks.find((one) => one.type === 'usage');
  assert.ok(chunk !== undefined, 'there is a usage chunk');
  return chunk.usage;
}

async function fails(work: Promise<unknown>, code: string, message: RegExp): Promise<void> {
  await assert.rejects(work, (error) => {
    assert.ok(error instanceof SluiceError, String(error));
    assert.equal(error.code, code);
    assert.match(error.message, message);
    return true;
  });
}

/** Process ids of the engines that were started, in order. */
function pids(log: TestLogger): number[] {
  const started = log.lines.filter(({ message }) => message === 'embedded engine started');
  return started.map(({ fields }) => (fields as { pid: number }).pid);
}

function kill(pid: number | undefined, signal: NodeJS.Signals): void {
  assert.ok(pid !== undefined);
  process.kill(pid, signal);
}

/** Waits until a process is gone; the test's own time limit is the only one. */
async function ended(pid: number | undefined): Promise<void> {
  assert.ok(pid !== undefined);
  for (;;) {
    try {
      process.kill(pid, 0);
    } catch {
      return;
    }
    if (isZombie(pid)) return;
    await sleep(10);
  }
}

/** Ended, but not waited for by its parent: some containers have a first process that never does. */
function isZombie(pid: number): boolean {
  try {
    return / Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}
