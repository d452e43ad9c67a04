import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { scanObject } from '../../core/json.ts';
import { between, join } from '../../core/pieces.ts';
import { outlineOf, placesInWhole } from './outline.ts';

const LONG = 40_000;

/** The same bytes, split at any places. */
function split(bytes: Buffer, places: readonly number[]): Buffer[] {
  const ends = [...places.map((place) => place % bytes.length).sort((a, b) => a - b), bytes.length];
  return ends.map((end, index) => bytes.subarray(index === 0 ? 0 : ends[index - 1], end));
}

/** Texts of all lengths, of characters with one to four bytes, some of which are escaped in JSON. */
const text = fc
  .tuple(fc.string({ unit: 'binary', minLength: 1, maxLength: 8 }), fc.integer({ min: 0, max: 3_000 }))
  .map(([unit, times]) => unit.repeat(times));

const chat = fc.record({
  model: fc.string(),
  messages: fc.array(
    fc.record({ role: fc.string(), content: fc.oneof(text, fc.array(fc.record({ type: fc.string(), text }))) }),
    { minLength: 1, maxLength: 5 },
  ),
  user: fc.string(),
});

/** Whether one is the other with texts that may end early. */
function isBeginning(outline: unknown, whole: unknown): boolean {
  if (typeof outline === 'string' && typeof whole === 'string') {
    return outline === whole || (whole.startsWith(outline) && outline.length > 150);
  }
  if (typeof outline !== 'object' || outline === null || typeof whole !== 'object' || whole === null) {
    return outline === whole;
  }
  const names = Object.keys(whole);
  return (
    Object.keys(outline).join() === names.join() &&
    names.every((name) => isBeginning(outline[name as never], whole[name as never]))
  );
}

function chatOf(content: string): Buffer {
  return Buffer.from(`{"model":"m","messages":[{"role":"user","content":"${content}"}]}`);
}

describe('outlineOf', () => {
  test('keeps all but the ends of long texts, however the bytes are split', () => {
    let outlined = 0;
    fc.assert(
      fc.property(chat, fc.array(fc.nat()), fc.constantFrom(undefined, 1), (value, places, indent) => {
        const bytes = Buffer.from(JSON.stringify(value, null, indent));
        const pieces = split(bytes, places);
        const outline = outlineOf(pieces);
        if (outline === undefined) return;
        outlined += 1;
        assert.ok(isBeginning(JSON.parse(outline.json.toString()), value));
        const missing = outline.cuts.reduce((sum, cut) => sum + cut.bytes, 0);
        assert.equal(outline.json.length + missing, bytes.length);
        assert.ok(outline.cuts.every(({ isText }) => isText));
        const found = placesInWhole(scanObject(outline.json).members, outline.cuts, 'messages');
        assert.deepEqual(found, scanObject(bytes).members);
        for (const { start, end } of found ?? [])
          assert.deepEqual(join(between(pieces, start, end)), bytes.subarray(start, end));
      }),
    );
    assert.ok(outlined > 10, `${outlined} were long enough`);
  });

  test('leaves to JSON.parse what is not JSON, and only that', () => {
    fc.assert(
      fc.property(fc.nat(LONG), fc.uint8Array({ minLength: 1, maxLength: 7 }), fc.boolean(), (at, bytes, isEscape) => {
        const whole = chatOf('x'.repeat(LONG));
        const broken = Buffer.from(whole);
        broken.set(isEscape ? [0x5c, ...bytes] : bytes, 50 + Math.min(at, LONG - 20));
        const outline = outlineOf([broken]);
        const isGood = isJson(broken);
        if (outline === undefined)
          assert.equal(isGood && scanObject(broken).members.length === 2 && longestOf(broken) > LONG / 2, false);
        else assert.equal(isJson(outline.json), isGood);
      }),
      { numRuns: 2_000 },
    );
  });

  test('knows every escape, and refuses what looks like one', () => {
    const many = (piece: string) => outlineOf([chatOf(piece.repeat(LONG / piece.length))]);
    for (const good of ['\\"', '\\\\', '\\/', '\\b', '\\f', '\\n', '\\r', '\\t', '\\u00e9', '\\uD83D\\uDe00']) {
      assert.ok(many(`some words ${good}`), good);
    }
    for (const bad of ['\\x', '\\u12g4', '\\u 123', '\\U0041', '\\0', '\t', '\n', '\u0000', '\u001f']) {
      assert.equal(many(`some words ${bad}`), undefined, bad);
    }
    const whole = chatOf('x'.repeat(LONG));
    for (const cut of [1, 3, 4, 5, 20])
      assert.equal(outlineOf([whole.subarray(0, -cut)]) !== undefined, cut < 4, `${cut}`);
    for (const end of ['\\', '\\u', '\\u00', '\\u004']) {
      assert.equal(outlineOf([Buffer.from(`{"messages":"${'x'.repeat(LONG)}${end}`)]), undefined, end);
    }
  });

  test('refuses bytes that are not UTF-8, in what is missing too', () => {
    const whole = chatOf('x'.repeat(LONG));
    for (const at of [60, 30_000]) {
      const broken = Buffer.from(whole);
      broken[at] = 0xff;
      assert.equal(outlineOf([broken]), undefined);
    }
  });

  test('never cuts within a character or an escape', () => {
    for (const unit of ['é', '€', '😀', '\\n', '\\u00e9', '\\\\']) {
      for (let before = 0; before < 8; before += 1) {
        const whole = chatOf('x'.repeat(before) + unit.repeat(LONG));
        const outline = outlineOf([whole]);
        assert.ok(outline, `${unit} behind ${before}`);
        assert.ok(isBeginning(JSON.parse(outline.json.toString()), JSON.parse(whole.toString())));
      }
    }
  });

  test('is not made of small bodies, of very large ones, of many strings, and where it would spare little', () => {
    assert.equal(outlineOf([chatOf('x'.repeat(30_000))]), undefined);
    assert.equal(outlineOf([chatOf('x'.repeat(1024 * 1024))]), undefined);
    const further = [Buffer.alloc(1024 * 1024, ' '), Buffer.from('}')];
    assert.ok(outlineOf([chatOf('x'.repeat(900_000)), ...further]) === undefined);
    assert.ok(outlineOf([chatOf('x'.repeat(1024 * 1024 - 100))]));
    const words = JSON.stringify(Array.from({ length: 30_000 }, () => 'word'));
    assert.equal(outlineOf([Buffer.from(`{"messages":${words},"x":"${'x'.repeat(700_000)}"}`)]), undefined);
    const turns = JSON.stringify({ messages: Array.from({ length: 100 }, () => ({ content: 'x'.repeat(1_100) })) });
    assert.equal(outlineOf([Buffer.from(turns)]), undefined);
  });

  test('tells what is said from what is shown or called', () => {
    const long = 'x'.repeat(LONG);
    const cuts = (message: object) => outlineOf([Buffer.from(JSON.stringify({ messages: [message] }))])?.cuts;
    assert.equal(cuts({ content: long })?.[0]?.isText, true);
    assert.equal(cuts({ content: [{ type: 'text', text: long }] })?.[0]?.isText, true);
    assert.equal(cuts({ content: [{ type: 'image_url', image_url: { url: long } }] })?.[0]?.isText, false);
    assert.equal(cuts({ tool_calls: [{ function: { name: 'f', arguments: long } }] })?.[0]?.isText, false);
  });
});

describe('placesInWhole', () => {
  test('is sure only where nothing is missing elsewhere', () => {
    const long = 'x'.repeat(LONG);
    const places = (value: object) => {
      const outline = outlineOf([Buffer.from(JSON.stringify(value))]);
      assert.ok(outline);
      return placesInWhole(scanObject(outline.json).members, outline.cuts, 'messages');
    };
    assert.ok(places({ a: 1, messages: long, b: 2 }));
    assert.equal(places({ a: long, messages: 1 }), undefined);
    assert.equal(places({ messages: 1, a: long }), undefined);
    assert.equal(places({ messages: long, a: [{ b: long }] }), undefined);
    assert.equal(places({ [long]: 1, messages: 1 }), undefined);
    assert.equal(places({ messages: 1, [long]: 1 }), undefined);
  });
});

function isJson(bytes: Buffer): boolean {
  try {
    JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
    return true;
  } catch {
    return false;
  }
}

/** The length of the longest text in a chat as `chatOf` makes it. */
function longestOf(bytes: Buffer): number {
  const { messages } = JSON.parse(bytes.toString());
  return Math.max(...Object.values(messages[0]).map((each) => String(each).length));
}
