import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import {
  bare,
  chunk,
  cut,
  event,
  frame,
  HEAD,
  type Json,
  streams,
  USAGE,
  withoutOwn,
} from '../../test/support/stream-shapes.ts';
import { type RewriteOptions, StreamRewriter } from './rewrite.ts';

const OPTIONS: RewriteOptions = {
  provider: 'acme',
  model: 'm-1',
  wantsUsage: false,
  choices: 1,
  promptTokens: 100,
  sseLineBytes: 1024 * 1024,
};

interface Seen {
  /** Everything but `[DONE]`, parsed. */
  readonly chunks: readonly Json[];
  readonly isDone: boolean;
  readonly failure: string | undefined;
}

/** Runs pieces through a rewriter, and reads what a client would. */
function rewrite(pieces: readonly (string | Buffer)[], options: Partial<RewriteOptions> = {}): Seen {
  const rewriter = new StreamRewriter({ ...OPTIONS, ...options });
  let out = '';
  for (const piece of pieces) {
    if (rewriter.done || rewriter.failure !== undefined) break;
    out += rewriter.push(Buffer.from(piece as string));
  }
  if (rewriter.failure === undefined) out += rewriter.end();
  const text = Buffer.from(out, 'latin1').toString('utf8');
  assert.match(text, /^(?:data: [^\n\r]+\n\n)*$/, 'one line of data for each event');
  const events = text.split('\n\n').slice(0, -1);
  const isDone = events.at(-1) === 'data: [DONE]';
  const chunks = events.slice(0, isDone ? -1 : undefined).map((event) => JSON.parse(event.slice(6)) as Json);
  return { chunks, isDone, failure: rewriter.failure?.code };
}

const stream = (...events: unknown[]): string => events.map(frame).join('');
const textOf = ({ chunks }: Seen): string =>
  chunks.map(({ choices }) => (choices as { delta: Json }[])[0]?.delta['content'] ?? '').join('');
const finishesOf = ({ chunks }: Seen): unknown[] =>
  chunks.flatMap(({ choices }) => (choices as Json[]).map((choice) => choice['finish_reason'])).filter(Boolean);

const usagesOf = ({ chunks }: Seen): Json[] => chunks.flatMap(({ usage }) => (usage ? [usage as Json] : []));

describe('StreamRewriter', () => {
  test('gives the same, however a stream is split', () => {
    fc.assert(
      fc.property(streams, fc.array(fc.nat(4_000), { maxLength: 12 }), fc.boolean(), (whole, at, wantsUsage) => {
        const once = withoutOwnIds(rewrite([whole], { wantsUsage }));
        assert.deepEqual(withoutOwnIds(rewrite(cut(whole, at), { wantsUsage })), once);
        const bytes = Array.from(Buffer.from(whole), (byte) => Buffer.of(byte));
        assert.deepEqual(withoutOwnIds(rewrite(bytes, { wantsUsage })), once);
      }),
      { numRuns: 400 },
    );
  });

  test('gives the same for events that are passed on and for events that are parsed', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 12 }), (events) => {
        const plain = [chunk({ content: 'first' }), ...events, chunk({}, 'stop'), '[DONE]'];
        // A field that means nothing sends the whole stream through the parser; a byte at a time, nothing is in a run.
        const passed = rewrite(plain.map(frame));
        assert.deepEqual(rewrite([`id: 1\n${stream(...plain)}`]), passed);
        assert.deepEqual(rewrite([stream(...plain)]), passed);
      }),
      { numRuns: 400 },
    );
  });

  test('names the end as the event before it, also where that was passed on after another name', () => {
    const other = chunk({ content: [{ type: 'text', text: 'b' }] }, null, { model: 'm-3', created: 1_700_000_001 });
    const said = chunk({ role: 'assistant', content: 'a' });
    const events = [said, other, chunk({ content: 'c' })];
    const { chunks } = rewrite([
      stream(...events, bare({}, {}), { choices: [{ index: 0, finish_reason: 'stop' }] }, '[DONE]'),
    ]);
    assert.deepEqual([chunks.at(-1)?.['model'], chunks.at(-1)?.['created']], ['m-2', 1_700_000_000]);
  });

  test('promises every client the same of every stream', () => {
    fc.assert(
      fc.property(streams, fc.boolean(), (whole, wantsUsage) => {
        const { chunks, isDone, failure } = rewrite([whole], { wantsUsage });
        assert.equal(isDone, failure === undefined, 'either an end or a failure');
        const [first] = (chunks[0]?.['choices'] ?? []) as { delta: Json }[];
        if (first !== undefined) assert.equal(first.delta['role'], 'assistant', 'who speaks');
        for (const { id, object, created, model, provider, choices } of chunks) {
          assert.deepEqual([id, object, provider], [chunks[0]?.['id'], 'chat.completion.chunk', 'acme']);
          assert.ok(typeof id === 'string' && id !== '');
          assert.ok(Number.isSafeInteger(created));
          assert.ok(typeof model === 'string' && model !== '');
          for (const choice of choices as Json[]) {
            const given = choice['delta'] as Json;
            assert.ok('finish_reason' in choice, 'null where nothing has ended');
            for (const name of ['tool_calls', 'audio', 'reasoning']) assert.notEqual(given[name], null);
            assert.equal(given['reasoning'] || undefined, given['reasoning_content'] || undefined);
            for (const call of (given['tool_calls'] ?? []) as Json[]) assert.ok(Number.isInteger(call['index']));
            assert.ok(given['content'] === null || typeof given['content'] === 'string', 'a text, or null');
            const others = ['reasoning', 'refusal', 'tool_calls', 'images', 'audio', 'function_call'];
            if (others.some((name) => given[name])) assert.equal(typeof given['content'], 'string');
          }
        }
        const finishing = chunks.filter(({ choices }) => (choices as Json[])[0]?.['finish_reason']);
        const used = chunks.filter(({ usage }) => usage);
        assert.equal(finishing.length, isDone ? 1 : 0);
        assert.equal(used.length, isDone ? 1 : 0);
        if (isDone) assert.equal(used[0], chunks.at(-1));
        if (isDone && !wantsUsage) assert.equal(finishing[0], chunks.at(-1));
      }),
      { numRuns: 600 },
    );
  });

  test('keeps of what is said beside all choices the last word on a few members, however many come, and no large one', () => {
    const aside = Array.from({ length: 1_000 }, (_, n) => ({ ...HEAD, choices: [], progress: n, [`odd_${n}`]: n }));
    const large = { ...HEAD, choices: [], progress: 'x'.repeat(64 * 1024) };
    const { chunks } = rewrite([stream(chunk({ content: 'a' }), ...aside, large, chunk({}, 'stop'), '[DONE]')]);
    const last = chunks.at(-1) ?? {};
    assert.equal(last['progress'], 999);
    assert.equal(Object.keys(last).filter((name) => name.startsWith('odd_')).length, 31);
  });

  test('passes a run of ordinary events on as it is, save for the provider', () => {
    const rewriter = new StreamRewriter(OPTIONS);
    const odd = `data: {"id":"c-1", "object":"chat.completion.chunk", "created":1e0,"model":"m",  "choices":[{"index":0,"delta":{"content":"a"},"finish_reason":null}]}\n\n`;
    rewriter.push(Buffer.from(odd.replace('{"content"', '{"role":"assistant","content"')));
    const out = rewriter.push(Buffer.from(odd.replace('"a"', '"\\u00e9\\/ é"').repeat(3)));
    const expected = `data: {"id":"c-1","object":"chat.completion.chunk","created":1,"model":"m","provider":"acme","choices":[{"index":0,"delta":{"content":"\\u00e9\\/ é"},"finish_reason":null}]}\n\n`;
    assert.equal(Buffer.from(out, 'latin1').toString(), expected.repeat(3));
  });

  test('rewrites a run of events that all need the same without parsing each', (context) => {
    const said = [' w', '\\u00e9\\/ é', '', '\\"', '[DONE]'].map((text) => `"${text}"`);
    for (const event of [
      '{"choices":[{"delta":{"content":@},"index":0}],"created":1700000000,"id":"c-1","model":"m-2","object":"chat.completion.chunk"}',
      '{"choices": [{"delta": {"content": @, "role": "assistant", "tool_calls": null}, "index": 0}], "id": "c-1", "usage": null}',
    ]) {
      const rewriter = new StreamRewriter(OPTIONS);
      const of = (literal: string): Buffer => Buffer.from(frame(event.replace('@', literal)));
      const [first = ''] = said.map(() => rewriter.push(of('"first"')));
      const parse = context.mock.method(JSON, 'parse');
      const out = said.map((literal) => rewriter.push(of(literal))).join('');
      const parsed = parse.mock.callCount();
      parse.mock.restore();
      // Only texts with escapes are looked at.
      assert.equal(parsed, 2);
      const { choices, ...name } = JSON.parse(first.slice(6)) as Json;
      assert.deepEqual(
        Buffer.from(out, 'latin1')
          .toString()
          .trim()
          .split('\n\n')
          .map((each) => JSON.parse(each.slice(6))),
        said.map((literal) => {
          const [choice] = choices as Json[];
          const role = event.includes('role') ? { role: 'assistant' } : {};
          return { ...name, choices: [{ ...choice, delta: { content: JSON.parse(literal), ...role } }] };
        }),
      );
    }
  });

  const calls = (...entries: Json[]): Json => chunk({ tool_calls: entries });
  const piecesOf = (seen: Seen): Json[] =>
    seen.chunks.flatMap(({ choices }) => ((choices as { delta: Json }[])[0]?.delta['tool_calls'] ?? []) as Json[]);

  test('pieces of tool calls get the place that an upstream left out', () => {
    const named = (id: string): Json => ({ id, type: 'function', function: { name: 'f', arguments: '{"x":' } });
    const seen = rewrite([stream(calls(named('a'), named('b')), calls({ function: { arguments: '1}' } }), '[DONE]')]);
    assert.deepEqual(piecesOf(seen), [
      { ...named('a'), index: 0 },
      { ...named('b'), index: 1 },
      { index: 1, function: { arguments: '1}' } },
    ]);
  });

  test('calls of freeform tools stay what they are', () => {
    const begun = { index: 0, id: 'a', type: 'custom', custom: { name: 'code', input: '' } };
    const more = { index: 0, custom: { input: 'print(1)' } };
    const seen = rewrite([stream(calls(begun), calls(more), chunk({}, 'tool_calls'), '[DONE]')]);
    assert.deepEqual(piecesOf(seen), [begun, more]);
    const { index: _, ...unplaced } = begun;
    assert.deepEqual(piecesOf(rewrite([stream(calls(unplaced), '[DONE]')])), [begun]);
  });

  test('an end without a reason in the middle of a call is none', () => {
    const begun = { index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '{"a":' } };
    const more = { index: 0, function: { arguments: '1}' } };
    assert.equal(rewrite([stream(calls(begun), '[DONE]')]).failure, 'upstream_cut');
    assert.equal(rewrite([stream(calls(begun), calls(more), '[DONE]')]).failure, undefined);
    assert.equal(rewrite([stream(calls(begun), chunk({}, 'length'), '[DONE]')]).failure, undefined);
  });

  test('what else an upstream says of a call stays when something had to be added', () => {
    const extra_content = { google: { thought_signature: 'SIG' } };
    const called = { index: 0, function: { name: 'f', arguments: '{}', more: 1 }, extra_content };
    for (const lacking of [
      { ...called, id: '' },
      { ...called, id: 'a' },
    ]) {
      const [piece] = piecesOf(rewrite([stream(calls(lacking), '[DONE]')]));
      assert.match(String(piece?.['id']), /^(a|call_\w+)$/);
      assert.deepEqual(piece, { ...called, id: piece?.['id'], type: 'function' });
    }
  });

  test('what is no text has an empty one beside it, and thoughts have both of their names', () => {
    const deltas = [{ reasoning: 'hm' }, { reasoning_content: 'hm' }, { content: null, refusal: 'no' }];
    const { chunks } = rewrite([stream(chunk({ content: 'a' }), ...deltas.map((each) => chunk(each)), '[DONE]')]);
    assert.deepEqual(
      chunks.slice(1, -1).map(({ choices }) => (choices as { delta: Json }[])[0]?.delta),
      [
        { content: '', reasoning: 'hm', reasoning_content: 'hm' },
        { content: '', reasoning: 'hm', reasoning_content: 'hm' },
        { content: '', refusal: 'no' },
      ],
    );
  });

  test('a dollar in a name is a dollar', () => {
    const named = { ...OPTIONS, provider: 'acme' };
    const events = ['a', 'b', 'c'].map((content) => frame({ ...chunk({ content }), model: "$&$1$'" }));
    const { chunks } = rewrite([...events, 'data: [DONE]\n\n'], named);
    assert.deepEqual(
      chunks.map(({ model }) => model),
      Array(4).fill("$&$1$'"),
    );
  });

  test('keeps what came before a failure in the same read', () => {
    const seen = rewrite([stream(chunk({ content: 'begun' }), { error: { message: 'crashed', code: 502 } })]);
    assert.equal(textOf(seen), 'begun');
    assert.equal(seen.failure, 'upstream_failed');
    assert.deepEqual(finishesOf(seen), []);
  });

  test('passes over what is no JSON beside events, and ends a stream of nothing else', () => {
    const mixed = Array.from({ length: 3_000 }, () => `data: {"a\n\n${frame(chunk({ content: 'x' }))}`).join('');
    const seen = rewrite([mixed, stream(chunk({}, 'stop'), '[DONE]')]);
    assert.deepEqual([textOf(seen), seen.isDone], ['x'.repeat(3_000), true]);
    assert.equal(rewrite([frame('{"a').repeat(3_000)]).failure, 'upstream_invalid');
    assert.equal(rewrite([frame('').repeat(3_000), stream(chunk({ content: 'x' }, 'stop'))]).failure, undefined);
  });

  for (const [title, good] of [
    ['passed on', (at: number) => chunk({ content: `${at}` })],
    ['parsed, each with another name', (at: number) => chunk({ content: `${at}` }, null, { model: `m-${at}` })],
  ] as const)
    test(`passes over as much as can be read, which is ${title}`, () => {
      const events = Array.from({ length: 1_500 }, (_, at) => [good(at), 'this is no JSON at all']).flat();
      const seen = rewrite([stream(chunk({ role: 'assistant' }), ...events, chunk({}, 'stop'), '[DONE]')]);
      assert.deepEqual([seen.failure, seen.isDone, seen.chunks.length], [undefined, true, 1_502]);
    });

  for (const [what, last] of [
    ['its end', '[DONE]'],
    ['a failure', { error: { message: 'broken', code: 503 } }],
  ] as const)
    test(`takes in nothing behind ${what}, however it reads`, () => {
      const said = (content: string): readonly Json[] => [
        chunk({ content }),
        chunk({ content, reasoning: 'thought' }),
        bare({ content }, {}),
      ];
      for (const at of said('a').keys()) {
        const [before = {}, after = {}] = [said('a')[at], said('b')[at]];
        const events = [chunk({ role: 'assistant' }), before, before, last, after, after, chunk({ content: 'c' })];
        assert.equal(textOf(rewrite([stream(...events)])), 'aa');
      }
    });

  test('gives every chunk one id and our name, also where the upstream says its own behind the text', () => {
    const { id: _, ...head } = HEAD;
    const choicesOf = (content: string) => [{ index: 0, delta: { content }, finish_reason: null }];
    for (const [before, behind] of [
      [{}, { ...head, provider: 'their own' }],
      [{}, head],
      [head, { provider: 'their own' }],
      [head, {}],
    ]) {
      const events = [0, 1, 2, 3].map((at) => ({ ...before, choices: choicesOf(`${at}`), ...behind, id: `c-${at}` }));
      const { chunks } = rewrite([stream(chunk({ role: 'assistant' }), ...events, '[DONE]')]);
      for (const said of chunks) assert.deepEqual([said['id'], said['provider']], ['c-1', 'acme']);
      assert.equal(textOf({ chunks, isDone: true, failure: undefined }), '0123');
    }
  });

  test('gives every choice a place and a delta, also where the upstream has none or a message in its stead', () => {
    for (const odd of [
      { delta: { content: 'a' } },
      { index: null, delta: { content: 'a' } },
      { index: '0', delta: { content: 'a' } },
      { index: 0, message: { content: 'a' } },
      { index: 0, delta: null, message: { content: 'a' } },
    ]) {
      const said = { ...HEAD, choices: [{ ...odd, finish_reason: null }] };
      const { chunks } = rewrite([stream(chunk({ role: 'assistant' }), said, said, chunk({}, 'stop'), '[DONE]')]);
      const expected = [{ index: 0, delta: { content: 'a' }, finish_reason: null }];
      assert.deepEqual([chunks[1]?.['choices'], chunks[2]?.['choices']], [expected, expected], JSON.stringify(odd));
    }
  });

  test('gives every chunk a name, also where the upstream leaves it empty', () => {
    const empty = { id: '', model: '', created: null };
    const said = ['a', 'b', 'c', 'd'].map((content, at) =>
      chunk({ role: 'assistant', content }, null, at === 2 ? { ...empty, model: 'm-9' } : empty),
    );
    const { chunks } = rewrite([stream(...said, chunk({}, 'stop', empty), '[DONE]')]);
    const { id } = chunks[0] ?? {};
    assert.ok(typeof id === 'string' && id !== '');
    for (const each of chunks) assert.ok(each['id'] === id && Number(each['created']) > 1_000_000_000);
    assert.deepEqual(
      chunks.map(({ model }) => model),
      ['m-1', 'm-1', 'm-9', 'm-9', 'm-9'],
    );
  });

  test('leaves out of a chunk what is no choice, and keeps for the end what is said behind it', () => {
    const choices = [null, { index: 0, delta: { role: 'assistant', content: 'a' }, finish_reason: null }];
    const said = { ...HEAD, choices };
    const { chunks } = rewrite([
      stream(said, said, chunk({}, 'stop'), chunk({}, null, { timings: { ms: 7 } }), '[DONE]'),
    ]);
    assert.deepEqual(
      chunks.map((each) => (each['choices'] as unknown[]).length),
      [1, 1, 1],
    );
    assert.deepEqual(chunks[2]?.['timings'], { ms: 7 });
  });

  test('keeps what is said of an end with it, and says nothing twice that came along', () => {
    const said = chunk({ role: 'assistant', content: 'a' });
    const end = {
      ...HEAD,
      choices: [{ index: 0, delta: {}, finish_reason: 'stop', native_finish_reason: 'end_turn' }],
    };
    const last = rewrite([stream(said, end, '[DONE]')]).chunks.at(-1) ?? {};
    assert.equal((last['choices'] as Json[])[0]?.['native_finish_reason'], 'end_turn');

    const both = rewrite([stream(said, chunk({ content: 'b', reasoning: 'thought' }, 'stop'), '[DONE]')]);
    const thoughts = both.chunks.map(({ choices }) => (choices as { delta: Json }[])[0]?.delta['reasoning'] ?? '');
    assert.deepEqual([textOf(both), thoughts.join('')], ['ab', 'thought']);
  });

  test('an end without a word is none, and takes none back', () => {
    const said = [chunk({ role: 'assistant', content: 'a' }, ''), chunk({ content: 'b' }, ''), chunk({}, 'stop')];
    assert.equal(rewrite([stream(...said.slice(0, 2))]).failure, 'upstream_cut');
    const { chunks, isDone } = rewrite([stream(...said, chunk({}, ''))]);
    assert.deepEqual(
      chunks.map(({ choices }) => (choices as Json[])[0]?.['finish_reason']),
      [null, null, 'stop'],
    );
    assert.ok(isDone);
  });

  test('tells nothing of what is no chunk', () => {
    const { chunks } = rewrite([stream(chunk({ content: 'a' }), { type: 'ping', at: 7 }, chunk({}, 'stop'), '[DONE]')]);
    for (const each of chunks) assert.ok(!('type' in each || 'at' in each), JSON.stringify(each));
  });

  test('what ends before any choice was there is cut, unless the upstream says that this is all', () => {
    for (const nothing of [': alive\n\n', stream({ ...HEAD, choices: [] }), stream('')])
      assert.deepEqual(
        [rewrite([nothing]).failure, rewrite([nothing, stream('[DONE]')]).isDone],
        ['upstream_cut', true],
      );
  });

  test('ends a stream with more choices than anybody may ask for', () => {
    const choice = (index: number): unknown => ({ ...chunk({}), choices: [{ index, delta: { content: 'x' } }] });
    const frames = Array.from({ length: 200 }, (_, index) => choice(index));
    assert.equal(rewrite([stream(...frames)]).failure, 'upstream_invalid');
    assert.equal(rewrite([stream(...frames.slice(0, 128), chunk({}, 'stop'), '[DONE]')]).failure, undefined);
  });

  test('keeps letters that one byte would hold', () => {
    const text = 'Grüße, café ÿ';
    const { chunks } = rewrite([stream(chunk({ content: text, reasoning: 'é' }), chunk({}, 'stop'), '[DONE]')]);
    assert.equal(textOf({ chunks, isDone: true, failure: undefined }), text);
  });

  test('keeps an event that was never closed, and still reports the missing end', () => {
    const seen = rewrite([stream(chunk({ content: 'begun' })), frame(chunk({ content: '!' })).trimEnd()]);
    assert.equal(textOf(seen), 'begun!');
    assert.equal(seen.failure, 'upstream_cut');
  });

  test('keeps what came before a line over the limit', () => {
    const seen = rewrite([stream(chunk({ content: 'begun' })), `data: {"x":"${'y'.repeat(2_000)}`], {
      sseLineBytes: 1_000,
    });
    assert.equal(textOf(seen), 'begun');
    assert.equal(seen.failure, 'upstream_invalid');
    const careful = rewrite([`id: 1\n${stream(chunk({ content: 'begun' }))}data: {"x":"${'y'.repeat(2_000)}`, 'z'], {
      sseLineBytes: 1_000,
    });
    assert.equal(textOf(careful), 'begun');
    assert.equal(careful.failure, 'upstream_invalid');
  });

  test('does not wait for the end of a line over the limit, also when something was said before it', () => {
    for (const begun of [stream(chunk({ content: 'begun' })), `id: 1\n${stream(chunk({ content: 'begun' }))}`]) {
      const rewriter = new StreamRewriter({ ...OPTIONS, sseLineBytes: 1_000 });
      assert.match(rewriter.push(Buffer.from(begun)), /begun/);
      for (let sent = 0; sent <= 10; sent += 1) rewriter.push(Buffer.from(sent === 0 ? 'data: {' : 'y'.repeat(100)));
      assert.equal(rewriter.failure?.code, 'upstream_invalid');
    }
  });

  test('the word of the end may have blanks around it', () => {
    for (const word of ['data: [DONE] \n\n', 'data:  [DONE]\n\n', 'data:[DONE]\t\n\n']) {
      const rewriter = new StreamRewriter(OPTIONS);
      rewriter.push(Buffer.from(stream(chunk({ content: 'a' }))));
      rewriter.push(Buffer.from(word));
      assert.equal(rewriter.done, true, word);
    }
  });

  test('adds the finish and the usage that an upstream left out', () => {
    const seen = rewrite([stream(chunk({ content: 'all' }), '[DONE]')]);
    assert.deepEqual(finishesOf(seen), ['stop']);
    assert.equal(usagesOf(seen)[0]?.['estimated'], true);
    for (const usage of [{}, { prompt_tokens: null, completion_tokens: null, total_tokens: null }]) {
      const counted = usagesOf(
        rewrite([stream(chunk({ content: 'all' }, null, { usage }), chunk({}, 'stop', { usage }))]),
      );
      assert.equal(counted.length, 1);
      assert.deepEqual([counted[0]?.['completion_tokens'], counted[0]?.['estimated']], [1, true]);
    }
    const empty = rewrite(['data: [DONE]\n\n']);
    assert.equal(empty.chunks.length, 1);
    assert.equal(empty.chunks[0]?.['model'], 'm-1');
    assert.match(String(empty.chunks[0]?.['id']), /^chatcmpl-[A-Za-z0-9]{28}$/);
    const called = { tool_calls: [{ index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }] };
    assert.deepEqual(finishesOf(rewrite([stream(chunk(called), '[DONE]')])), ['tool_calls']);
  });

  test('puts the finish last, once, whatever follows or repeats it', () => {
    const used = chunk({ role: 'assistant', content: '' }, null, { usage: USAGE }); // OpenRouter's last chunk
    const seen = rewrite([
      stream(chunk({ content: 'a' }), chunk({ content: 'b' }, 'stop'), chunk({}, 'stop'), used, '[DONE]'),
    ]);
    assert.equal(textOf(seen), 'ab');
    assert.deepEqual(finishesOf(seen), ['stop']);
    assert.equal(seen.chunks.length, 3);
    assert.deepEqual(
      usagesOf(seen).map((usage) => usage['total_tokens']),
      [18],
    );
    const late = rewrite([stream(chunk({}, 'stop'), chunk({ content: 'late' }), '[DONE]')]);
    assert.equal(textOf(late), 'late');
    assert.deepEqual(finishesOf(late), ['stop']);
  });

  test('leaves a usage of null out where none was asked for, wherever it stands', () => {
    const spelled = (text: string, form: string): string =>
      form.replace('@', `"choices":[{"index":0,"delta":{"content":"${text}"},"finish_reason":null}]`);
    const head = '"id":"c","object":"chat.completion.chunk","created":1,"model":"m"';
    for (const form of [
      `{${head},@,"usage":null}`,
      `{${head},@,"usage": null ,"obfuscation":"ab"}`,
      `{${head},"usage":null,@}`,
      `{"usage":null,${head},@}`,
    ]) {
      const text = ['a', 'b', 'c', String.raw`,\"usage\":null`]
        .map((each) => `data: ${spelled(each, form)}\n\n`)
        .join('');
      const whole = `${text}${stream(chunk({}, 'stop'), '[DONE]')}`;
      for (const wantsUsage of [false, true]) {
        for (const pieces of [[whole], [...whole], [`id: 1\n${whole}`]]) {
          const seen = rewrite(pieces, { wantsUsage });
          assert.equal(textOf(seen), 'abc,"usage":null', form);
          const nulls = seen.chunks.filter(({ usage }) => usage === null).length;
          assert.equal(nulls, wantsUsage ? 4 : 0, form);
          const kept = seen.chunks.filter(({ obfuscation }) => obfuscation === 'ab').length;
          assert.equal(kept, form.includes('obfuscation') ? 4 : 0);
        }
      }
    }
  });

  test('leaves only that usage of null out: all of one that stands there twice, none in another object', () => {
    const head = '"id":"c","object":"chat.completion.chunk","created":1,"model":"m"';
    const choices = '"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":null}]';
    for (const form of [
      `{"usage":null,${head},${choices},"usage":null}`,
      `{${head},"usage":null,${choices},"more":{"a":1,"usage":null}}`,
      `{"usage":null,${head},${choices},"more":{"a":1,"usage":null}}`,
    ]) {
      const first = `data: {${head},${choices.replace('{"content"', '{"role":"assistant","content"')}}\n\n`;
      const whole = `${first}${`data: ${form}\n\n`.repeat(3)}${stream(chunk({}, 'stop'), '[DONE]')}`;
      const { chunks } = rewrite([whole], { wantsUsage: false });
      assert.deepEqual(
        chunks.slice(1, 4).map(({ usage, more }) => ({ usage, more })),
        Array(3).fill({ usage: undefined, more: form.includes('more') ? { a: 1, usage: null } : undefined }),
        form,
      );
    }
  });

  test('usage of every chunk (xAI) becomes usage of the last', () => {
    const counted = (content: string, total: number) =>
      chunk({ content }, null, { usage: { ...USAGE, total_tokens: total } });
    const { chunks } = rewrite(
      [counted('a', 12), counted('b', 13), chunk({}, 'stop', { usage: USAGE }), '[DONE]'].map(frame),
    );
    assert.deepEqual(
      chunks.map(({ usage }) => (usage as Json | undefined)?.['total_tokens']),
      [undefined, undefined, 18],
    );
  });

  test('several choices: each with its own finish, all at the end', () => {
    const of = (index: number, content: string, finish: string | null = null): Json => ({
      ...HEAD,
      choices: [{ index, delta: { content }, finish_reason: finish }],
    });
    const events = [of(0, 'a'), of(1, 'x'), of(0, '', 'stop'), of(1, 'y'), of(1, '', 'length')];
    const { chunks, isDone } = rewrite(events.map(frame));
    assert.ok(isDone, 'all that was begun has ended, so [DONE] may be missing');
    assert.deepEqual(
      chunks.map(({ choices }) =>
        (choices as Json[]).map(({ index, delta: given, finish_reason }) => [
          index,
          (given as Json)['content'],
          finish_reason,
        ]),
      ),
      [[[0, 'a', null]], [[1, 'x', null]], [[1, 'y', null]], [[0, '', 'stop']], [[1, '', 'length']]],
    );
    assert.equal(rewrite(events.slice(0, 4).map(frame)).failure, 'upstream_cut', 'the second choice has not ended');
    const rewriter = new StreamRewriter({ ...OPTIONS, choices: 2 });
    const states = events.map((event) => {
      rewriter.push(Buffer.from(frame(event)));
      return rewriter.complete;
    });
    assert.deepEqual(states, [false, false, false, false, true]);
    rewriter.push(Buffer.from('data: [DONE]\n\n'));
    const early = new StreamRewriter({ ...OPTIONS, choices: 2 });
    early.push(Buffer.from(stream(of(0, 'a'), of(0, '', 'stop'))));
    assert.ok(!early.complete, 'the second choice may still come');
    assert.match(early.end(), /DONE/, 'unless the upstream makes an end');
  });

  test('comments do not end the fast way of reading, however many come', () => {
    const seen = rewrite([
      // As an upstream says for an hour that it is at work.
      ...Array.from({ length: 3_600 }, () => ': OPENROUTER PROCESSING\n\n'),
      stream(chunk({ content: 'a' })),
      ':\n\n',
      stream(chunk({ content: 'b' }), '[DONE]'),
    ]);
    assert.equal(textOf(seen), 'ab');
  });
});

function withoutOwnIds(seen: Seen): Seen {
  return { ...seen, chunks: seen.chunks.map(withoutOwn) };
}
