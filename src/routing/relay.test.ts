import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { after, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { testCall } from '../../test/support/call.ts';
import { plainServer } from '../../test/support/plain-server.ts';
import { defaultLimits } from '../config/defaults.ts';
import { join } from '../core/pieces.ts';
import type { Provider } from '../core/provider.ts';
import { createUpstreamClient } from '../outbound/upstream.ts';
import { Deadlines } from './deadlines.ts';
import { openRelay } from './relay.ts';
import type { Relayed } from './relayed.ts';

const client = createUpstreamClient(() => defaultLimits);
after(() => client.close());

/** Asks for a whole answer of a server. */
function ask(origin: string, body: string): Promise<Relayed> {
  const relay = { target: () => ({ origin, path: '/', headers: {} }) };
  const provider: Provider = {
    id: 'acme',
    label: 'Acme',
    origin: 'file',
    auth: { kind: 'none' },
    models: async () => [],
    relay,
  };
  const request = {
    endpoint: '/',
    body: [Buffer.from(body)],
    stream: false,
    wantsUsage: false,
    choices: 1,
    wantsJson: false,
    promptTokens: 1,
  };
  return openRelay({ provider, model: 'm' }, request, testCall(), {
    client,
    deadlines: new Deadlines(),
    limits: defaultLimits,
  });
}

describe('the relay', () => {
  for (const size of [10, 100_000])
    test(`answers of ${size} characters that come in pieces at the same time stay apart`, async (context) => {
      const { url } = await plainServer(context, async (request, response: ServerResponse) => {
        const letter = Buffer.concat(await request.toArray()).toString();
        const answer = JSON.stringify({
          ...{ id: letter, object: 'chat.completion', created: 1, model: 'm' },
          choices: [{ index: 0, message: { role: 'assistant', content: letter.repeat(size) }, finish_reason: 'stop' }],
          usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
        });
        for (let at = 0; at < answer.length; at += answer.length / 4) {
          response.write(answer.slice(at, at + answer.length / 4));
          await sleep(10);
        }
        response.end();
      });
      const answers = await Promise.all([...'abcdef'].map((letter) => ask(url, letter)));
      for (const [index, answer] of answers.entries()) {
        assert.equal(answer.kind, 'body');
        const { id, provider, choices } = JSON.parse(join(answer.pieces).toString());
        assert.deepEqual([id, provider], ['abcdef'[index], 'acme']);
        assert.equal(choices[0].message.content, id.repeat(size));
      }
    });
});
