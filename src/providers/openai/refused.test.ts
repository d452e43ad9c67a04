import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chatRequest } from '../../../test/support/chat-request.ts';
import type { ChatRequest, Message } from '../../core/chat.ts';
import { encodeRequest } from './encode.ts';
import { withoutRefused } from './refused.ts';
import { serviceAt } from './services.ts';

const THOUGHT: Message = {
  role: 'assistant',
  content: [
    { type: 'reasoning', text: 'hm' },
    { type: 'text', text: 'Yes.' },
  ],
};
const asked = (fields: Partial<ChatRequest> = {}): ChatRequest =>
  chatRequest([THOUGHT, { role: 'user', content: [] }], {
    sampling: { topK: 5, topP: 1 },
    format: 'anthropic',
    ...fields,
  });

test('what a service refuses is left out, and named', () => {
  const cases: readonly (readonly [host: string, ...string[]])[] = [
    ['api.openai.com', 'top_k'],
    ['mine.openai.azure.com', 'top_k'],
    ['api.groq.com', 'top_k', 'reasoning'],
    ['api.cerebras.ai', 'reasoning'],
    ['api.mistral.ai', 'reasoning'],
    ['openrouter.ai'],
    ['127.0.0.1'],
  ];
  for (const [host, ...expected] of cases) {
    const dropped: string[] = [];
    const drop = (field: string) => dropped.push(field);
    const service = serviceAt(host);
    const left = encodeRequest(withoutRefused(asked(), service, drop), false, drop, service);
    assert.deepEqual(dropped, [...expected], host);
    assert.equal(left['top_k'], dropped.includes('top_k') ? undefined : 5);
    assert.equal(left['top_p'], 1);
    const thoughts = dropped.includes('reasoning') ? {} : { reasoning_content: 'hm' };
    assert.deepEqual(left['messages'], [
      { role: 'assistant', content: 'Yes.', ...thoughts },
      { role: 'user', content: '' },
    ]);
  }
});

test('whoever writes this very format is taken at their word', () => {
  const request = asked({ format: 'openai' });
  assert.equal(
    withoutRefused(request, serviceAt('api.groq.com'), () => assert.fail()),
    request,
  );
});
