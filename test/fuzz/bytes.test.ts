import assert from 'node:assert/strict';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { describe, test } from 'node:test';
import { createParser } from 'eventsource-parser';
import { SluiceError } from '../../src/core/errors.ts';
import { editObject, scanObject } from '../../src/core/json.ts';
import { parseJson } from '../../src/http/edge/body.ts';
import { readForm } from '../../src/http/edge/form.ts';
import { outlineOf, placesInWhole } from '../../src/http/edge/outline.ts';
import { Turns } from '../../src/http/edge/turns.ts';
import { EventReader } from '../../src/providers/openai/events.ts';
import { Deadlines } from '../../src/routing/deadlines.ts';
import { StreamRewriter } from '../../src/routing/rewrite.ts';
import { property } from './cases.ts';
import type { Random } from './random.ts';
import { anything, spoilt } from './schema-values.ts';

/** An event stream, more or less. */
function eventStream(random: Random): Buffer {
  const lines = random.many(random.below(12), () => {
    const end = random.pick(['\n', '\n', '\r\n', '\r']);
    const data = random.chance(0.7) ? JSON.stringify(chunkOf(random)) : random.text();
    const field = random.pick(['data: ', 'data:', 'data: ', 'data', 'event: ', 'id: ', 'retry: ', ': ', ':', '']);
    return `${field}${data}${end}${random.chance(0.8) ? end : ''}`;
  });
  const text = `${random.chance(0.1) ? '\ufeff' : ''}${lines.join('')}${random.pick(['', 'data: [DONE]\n\n', 'data: [DO'])}`;
  const bytes = Buffer.from(text);
  return random.chance(0.1) ? Buffer.concat([bytes, random.bytes(20), bytes]) : bytes;
}

/** A chunk of a chat completion, sometimes a little wrong. */
function chunkOf(random: Random): unknown {
  const delta = random.pick<object>([
    { content: random.text() },
    { role: 'assistant', content: '' },
    { reasoning_content: random.text(4) },
    { reasoning: random.text(4) },
    { content: null },
    {},
    {
      tool_calls: [
        {
          index: random.below(3),
          id: random.pick(['call_1', 'call_2']),
          function: { name: 'f', arguments: random.text(3) },
        },
      ],
    },
  ]);
  const chunk = {
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1_700_000_000,
    model: 'm',
    choices: [{ index: 0, delta, finish_reason: random.pick([null, null, null, 'stop']) }],
    ...(random.chance(0.1) ? { usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 } } : {}),
    ...(random.chance(0.03) ? { error: { message: 'no' } } : {}),
  };
  return random.chance(0.15) ? spoilt(chunk, random) : chunk;
}

function eventsIn(pieces: readonly Buffer[]): unknown {
  const reader = new EventReader(1_000_000);
  return [...pieces.flatMap((piece) => reader.push(piece)), ...reader.end()];
}

/**
 * The events that clients get, and how it ended. Members may stand in another order, since events that look like the one
 * before are not decoded; what is missing is made up: ids, times.
 */
function rewritten(pieces: readonly Buffer[]): unknown {
  const rewriter = new StreamRewriter({
    ...{ provider: 'acme', model: 'm', wantsUsage: true, choices: 1 },
    ...{ promptTokens: 40, sseLineBytes: 1_000_000 },
  });
  const sent = pieces.map((piece) => rewriter.push(piece)).join('') + rewriter.end();
  const events = Buffer.from(sent, 'latin1').toString().split('\n\n');
  return {
    events: events.map((event) => {
      assert.match(event, /^(data: (\{.*\}|\[DONE\]))?$/s);
      return event.startsWith('data: {') ? JSON.parse(event.slice(6), withoutMadeUp) : event;
    }),
    failure: rewriter.failure?.message,
    usage: rewriter.usage,
  };
}

function withoutMadeUp(name: string, value: unknown): unknown {
  return name === 'created' || name === 'id' ? typeof value : value;
}

describe('bytes, however they are split', () => {
  test('an event stream gives the same events, and those that another parser finds in the whole', async () => {
    await property(1_500, (random) => {
      const bytes = eventStream(random);
      const whole = eventsIn([bytes]);
      assert.deepEqual(eventsIn(random.split(bytes)), whole, JSON.stringify(bytes.toString('latin1')));
      const expected: string[] = [];
      createParser({ onEvent: ({ data }) => void expected.push(data) }).feed(`${bytes.toString()}\n\n`);
      if (!bytes.toString('latin1').includes('\xff'))
        assert.equal((whole as unknown[]).length >= expected.length - 1, true);
    });
  });

  test('a relayed stream gives clients the same bytes', async () => {
    await property(1_500, (random) => {
      const bytes = eventStream(random);
      assert.deepEqual(rewritten(random.split(bytes)), rewritten([bytes]), JSON.stringify(bytes.toString('latin1')));
    });
  });
});

describe('JSON', () => {
  test('members stand where JSON.parse finds them, and edits change nothing else', async () => {
    await property(2_000, (random) => {
      const value = objectOf(random);
      const bytes = Buffer.from(spaced(value, random));
      const { members, depth } = scanObject(bytes);
      assert.deepEqual(
        members.map(({ name }) => name),
        Object.keys(JSON.parse(bytes.toString())).sort(inOrderOf(members)),
      );
      for (const { name, start, end } of members) {
        assert.deepEqual(JSON.parse(bytes.toString('utf8', start, end)), own(JSON.parse(bytes.toString()), name));
      }
      assert.equal(depth, depthOf(value));
      const name = random.chance(0.5) && members.length > 0 ? random.pick(members).name : nameOf(random.text(3));
      const edited = JSON.parse(editObject(bytes, members, new Map([[name, '{"new":1}']])).toString());
      assert.deepEqual(own(edited, name), { new: 1 });
      const removed = JSON.parse(editObject(bytes, members, new Map([[name, undefined]])).toString());
      assert.equal(Object.hasOwn(removed, name), false);
      for (const other of members)
        if (other.name !== name) assert.deepEqual(own(removed, other.name), own(value, other.name));
    });
  });

  test('any bytes are an object that JSON.parse knows, or refused', async () => {
    await property(2_000, (random) => {
      const bytes = Buffer.from(JSON.stringify(objectOf(random)));
      const at = random.below(bytes.length);
      const broken = random.chance(0.3)
        ? bytes
        : Buffer.concat([bytes.subarray(0, at), random.bytes(3), bytes.subarray(at)]);
      const parsed = orRefusal(() => parseJson(broken, { jsonDepth: 6 }));
      // Large bodies are weighed before they are parsed, which must not make a difference.
      if (random.chance(0.02)) {
        const large = Buffer.concat([broken, Buffer.alloc(130 * 1_024, ' ')]);
        assert.deepEqual(orRefusal(() => parseJson(large, { jsonDepth: 6 }))?.value, parsed?.value);
      }
      if (parsed === undefined) return;
      assert.deepEqual(parsed.value, JSON.parse(broken.toString()));
      assert.ok(depthOf(parsed.value) <= 6);
    });
  });

  test('an outline is JSON if the whole is, and lacks only ends of texts', async () => {
    await property(1_000, (random) => {
      const unit = random.text(1 + random.below(6));
      const said = unit.repeat(1 + Math.floor(40_000 / Math.max(1, unit.length)));
      const written = Buffer.from(JSON.stringify({ ...objectOf(random), messages: [said, objectOf(random)] }));
      const at = random.below(written.length);
      const bytes = random.chance(0.3)
        ? written
        : Buffer.concat([written.subarray(0, at), random.bytes(1 + random.below(3)), written.subarray(at)]);
      const split = random.below(bytes.length);
      const outline = outlineOf([bytes.subarray(0, split), bytes.subarray(split)]);
      if (outline === undefined) return;
      const limits = { jsonDepth: 100 };
      const whole = orRefusal(() => parseJson(bytes, limits));
      const short = orRefusal(() => parseJson(outline.json, limits));
      // Two long names may be one name in the outline, which refuses it.
      if (short === undefined) return;
      assert.ok(whole !== undefined);
      const places = placesInWhole(short.members, outline.cuts, 'messages');
      if (places !== undefined) assert.deepEqual(places, whole.members);
    });
  });
});

describe('multipart forms', () => {
  test('are read or refused, however they are split and broken', async () => {
    const deadlines = new Deadlines();
    await property(300, async (random) => {
      const whole = formOf(random);
      const bytes = random.chance(0.5) ? whole.bytes : broken(whole.bytes, random);
      const outcomes = await Promise.all([[bytes], random.split(bytes)].map((pieces) => outcomeOf(pieces, deadlines)));
      assert.deepEqual(outcomes[1], outcomes[0], JSON.stringify(bytes.toString('latin1')));
      if (bytes === whole.bytes) assert.deepEqual(outcomes[0], whole.parts, JSON.stringify(bytes.toString('latin1')));
    });
  });
});

const LIMITS = {
  uploadFileBytes: 4_000,
  uploadRequestBytes: 20_000,
  uploadParts: 10,
  uploadNameBytes: 255,
  clientBodyIdleMs: 60_000,
  fieldBytes: 4_000,
};

const turns = new Turns();

async function outcomeOf(pieces: readonly Buffer[], deadlines: Deadlines): Promise<unknown> {
  const request = new IncomingMessage(new Socket());
  request.headers['content-type'] = 'multipart/form-data; boundary=x-y';
  for (const piece of pieces) request.push(piece);
  request.complete = true;
  request.push(null);
  try {
    const { fields, files } = await readForm(request, LIMITS, { deadlines, turns });
    return [
      ...fields.map(({ name, value }) => `${name}=${value}`),
      ...files.map(({ name, filename, bytes }) => `${name}:${filename}=${bytes.toString('latin1')}`),
    ];
  } catch (error) {
    assertRefusal(error);
    return 'refused';
  }
}

function formOf(random: Random): { readonly bytes: Buffer; readonly parts: readonly string[] } {
  const fields: string[] = [];
  const files: string[] = [];
  const pieces: Buffer[] = [];
  for (let left = random.below(5); left > 0; left -= 1) {
    const name = random.pick(['a', 'files', 'json', 'ä', '__proto__']);
    const isFile = random.chance(0.5);
    const content = isFile ? random.bytes(300) : Buffer.from(random.text().toWellFormed());
    pieces.push(
      Buffer.from(
        `--x-y\r\nContent-Disposition: form-data; name="${name}"${isFile ? '; filename="f.txt"' : ''}\r\n\r\n`,
      ),
      content,
      Buffer.from('\r\n'),
    );
    if (isFile) files.push(`${name}:f.txt=${content.toString('latin1')}`);
    else fields.push(`${name}=${content}`);
  }
  pieces.push(Buffer.from('--x-y--\r\n'));
  return { bytes: Buffer.concat(pieces), parts: [...fields, ...files] };
}

function broken(bytes: Buffer, random: Random): Buffer {
  const at = random.below(bytes.length);
  if (random.chance(0.3)) return bytes.subarray(0, at);
  const inserted = random.pick([
    random.bytes(4),
    Buffer.from('--x-y'),
    Buffer.from('\r\n\r\n'),
    Buffer.from('--x-y--'),
  ]);
  return Buffer.concat([bytes.subarray(0, at), inserted, bytes.subarray(at + random.below(4))]);
}

/**
 * Names hold no backslash: V8 14.6 (Node 26.10) takes `{"a":1,"b\\n":2}` for `{"a":1,"b\\\\":2}` when it has parsed the
 * latter before, since it compares a name that has escapes with the one it expects without decoding it.
 */
function objectOf(random: Random): Record<string, unknown> {
  return Object.fromEntries(
    random.many(random.below(6), () => [nameOf(random.text(3)), withPlainNames(anything(random, 2))]),
  );
}

function withPlainNames(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed();
  if (Array.isArray(value)) return value.map(withPlainNames);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [nameOf(name), withPlainNames(each)]));
}

/** Without what JSON escapes: of a name with escapes V8 may make another one that it knows (docs/hardening.md, at its end). */
function nameOf(text: string): string {
  return text.toWellFormed().replaceAll(/[\\"\p{Cc}]/gu, '/');
}

/** JSON text with white space where it may be. */
function spaced(value: unknown, random: Random): string {
  const space = (): string => random.pick(['', '', ' ', '\n', '\t\r\n ']);
  if (Array.isArray(value))
    return `[${value.map((each) => space() + spaced(each, random) + space()).join(',') || space()}]`;
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).map(
      ([name, each]) => `${space()}${JSON.stringify(name)}${space()}:${space()}${spaced(each, random)}${space()}`,
    );
    return `{${members.join(',') || space()}}`;
  }
  return JSON.stringify(value);
}

/** Names that are numbers come first in an object, wherever they were written. */
function inOrderOf(members: readonly { readonly name: string }[]): (a: string, b: string) => number {
  const places = new Map(members.map(({ name }, index) => [name, index]));
  return (a, b) => (places.get(a) ?? 0) - (places.get(b) ?? 0);
}

function own(value: unknown, name: string): unknown {
  return Object.getOwnPropertyDescriptor(value, name)?.value;
}

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

function orRefusal<T>(make: () => T): T | undefined {
  try {
    return make();
  } catch (error) {
    assertRefusal(error);
    return undefined;
  }
}

function assertRefusal(error: unknown): void {
  if (!(error instanceof SluiceError) || error.status >= 500) throw error;
}
