import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { FORMATS, openWorld, type World } from './responses-world.ts';

interface Event {
  readonly type: string;
  readonly message?: string;
  readonly response?: { readonly error: { readonly message: string } | null };
}

describe('an answer of the Responses API that fails in the middle of its stream', { timeout: 60_000 }, () => {
  let world: World;
  before(async () => {
    world = await openWorld();
  });
  after(() => world.close());

  for (const format of FORMATS) {
    test(`says the same in its error as in the answer that failed: ${format}`, async () => {
      const seat = world.seat(format);
      seat.answers({ text: ['A', 'B'], errorAfter: 1, errorMessage: 'Overheated.' });
      const response = await fetch(`${world.gateway.origin}/v1/responses`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: 'Bearer secret' },
        body: JSON.stringify({ model: seat.model, input: 'Hi', stream: true, store: false }),
      });
      const lines = (await response.text()).split('\n').filter((line) => line.startsWith('data: {'));
      const events = lines.map((line): Event => JSON.parse(line.slice('data: '.length)));
      const failed = events.find(({ type }) => type === 'response.failed')?.response?.error?.message;
      assert.match(failed ?? '', /^[A-Z]\w+Error: .*Overheated\./);
      assert.equal(events.find(({ type }) => type === 'error')?.message, failed);
    });
  }
});
