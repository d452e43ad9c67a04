import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseObject } from '../../src/core/objects.ts';
import { type EventKinds, JoinedTexts } from '../../src/providers/ai-sdk/joined-texts.ts';
import { EventReader } from '../../src/providers/openai/events.ts';
import { property } from './cases.ts';
import type { Random } from './random.ts';

const LIMIT = 1024 * 1024;

/** The simplest format there is: `a` or `b` says which text a piece belongs to. */
const says: EventKinds['says'] = (event) =>
  typeof event['of'] === 'string' && Object.keys(event).length === 2
    ? { holder: event, member: 'text', of: event['of'] }
    : undefined;

function eventOf(random: Random): object | string {
  if (random.chance(0.1)) return random.pick(['[DONE]', '{"broken', '', '[1]', 'null']);
  if (random.chance(0.15)) return { other: random.text(5), of: 'a', text: 'x' };
  const text = random.chance(0.05) ? random.below(9) : random.text(random.pick([0, 1, 6]));
  return { of: random.pick(['a', 'a', 'a', 'b']), text };
}

/**
 * What a reader of the events learns: texts in their order, as far as nothing else stands between their pieces, and everything
 * else as it came. Not where each piece ends: a text that is the same as another one may be cut as that one was.
 */
class Reader {
  readonly found: (string | { readonly of: unknown; text: string })[] = [];

  read(events: readonly string[], apart: (text: string) => readonly string[]): void {
    for (const data of events) {
      const event = parseObject(data) ?? {};
      const { of, text } = event;
      if (says(event) === undefined || typeof text !== 'string') this.found.push(data);
      else {
        const last = this.found.at(-1);
        if (typeof last === 'object' && last.of === of) last.text += apart(text).join('');
        else this.found.push({ of, text: apart(text).join('') });
      }
    }
  }
}

describe('texts that are joined for a library', () => {
  test('say the same in the same order, however the bytes are split', async () => {
    await property(300, (random) => {
      const events = random
        .many(random.below(30), () => eventOf(random))
        .map((event) => (typeof event === 'string' ? event : JSON.stringify(event)));
      const bytes = Buffer.from(events.map((data) => `event: x\r\ndata: ${data}\r\n\r\n`).join(''));
      const texts = new JoinedTexts({ says }, LIMIT);
      const library = new EventReader(LIMIT);
      const behind = new Reader();
      let passed = 0;
      for (const piece of random.split(bytes)) {
        const joined = texts.push(piece);
        if (joined === undefined) continue;
        const events = library.push(Buffer.from(joined));
        passed += events.length;
        // A library hands a text on at once.
        behind.read(events, (text) => texts.apart(text));
      }
      const whole = new Reader();
      const all = new EventReader(LIMIT).push(bytes);
      whole.read(all, (text) => [text]);
      assert.deepEqual(behind.found, whole.found);
      assert.ok(passed <= all.length);
    });
  });
});
