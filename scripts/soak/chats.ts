import assert from 'node:assert/strict';
import { type Expected, type Fault, faultList } from '../../test/support/openai-faults.ts';
import {
  ask,
  askChat,
  askConversation,
  type Received,
  readChatStream,
  readCompletion,
  readConversation,
} from '../../test/support/wire-answers.ts';

/** One way of asking for a chat, and how its answer is read. */
export interface Way {
  ask(origin: string, model: string): Promise<Received>;
  /** Text, whether it ended as an answer ends, and whether a failure is told in it. Throws when it is of no known form. */
  read(received: Received): { readonly text: string; readonly ended: boolean; readonly told: boolean };
  /** Nothing comes before everything is there, so that a failure in the middle is a refusal. */
  readonly isWhole?: true;
}

const TEXT = 'Say something.';
const of = (model: string): string => `mock/${model}`;
const said = ({ text, finish, error }: { text: string; finish: unknown; error: unknown }) => ({
  text,
  ended: finish === 'stop',
  told: error !== undefined,
});

/** A stream of a format of which only text, end and error are looked at. */
function streamed(
  textOf: (event: Event) => string,
  end: (event: Event) => boolean,
  error: (event: Event) => boolean,
): Way['read'] {
  return ({ status, complete, body }) => {
    assert.equal(status, 200, body.slice(0, 300));
    assert.ok(complete, 'the connection ends in good order');
    const events = body
      .split('\n')
      .map((line) => line.replace(/^data: /, ''))
      .flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as Event] : []));
    return { text: events.map(textOf).join(''), ended: events.some(end), told: events.some(error) };
  };
}

// biome-ignore lint/suspicious/noExplicitAny: an event of any format, looked into
type Event = any;

/** How a chat is asked for and its answer read, by the name of its actor. */
export const WAYS: Readonly<Record<string, Way>> = {
  'v1, streamed': {
    ask: (origin, model) => askChat(origin, { provider: 'mock', model, stream: true }),
    read: (received) => said(readChatStream(received)),
  },
  'v1, whole': {
    ask: (origin, model) => askChat(origin, { provider: 'mock', model }),
    read: (received) => said(readCompletion(received)),
    isWhole: true,
  },
  conversation: {
    ask: (origin, model) => askConversation(origin, { provider: 'mock', model }),
    read: (received) => said(readConversation(received)),
  },
  responses: {
    ask: (origin, model) => ask(origin, '/v1/responses', { model: of(model), input: TEXT, stream: true, store: false }),
    read: streamed(
      (event) => (event.type === 'response.output_text.delta' ? event.delta : ''),
      (event) => event.type === 'response.completed',
      (event) => event.type === 'response.failed' || event.type === 'error',
    ),
  },
  messages: {
    ask: (origin, model) =>
      ask(origin, '/v1/messages', {
        model: of(model),
        max_tokens: 500,
        messages: [{ role: 'user', content: TEXT }],
        stream: true,
      }),
    read: streamed(
      (event) => event.delta?.text ?? '',
      (event) => event.type === 'message_stop',
      (event) => event.type === 'error',
    ),
  },
  gemini: {
    ask: (origin, model) =>
      ask(origin, `/v1beta/models/${of(model)}:streamGenerateContent?alt=sse`, {
        contents: [{ role: 'user', parts: [{ text: TEXT }] }],
      }),
    read: streamed(
      (event) => (event.candidates?.[0]?.content?.parts ?? []).map((part: Event) => part.text ?? '').join(''),
      (event) => event.candidates?.[0]?.finishReason === 'STOP',
      (event) => event.error !== undefined,
    ),
  },
  ollama: {
    ask: (origin, model) => ask(origin, '/api/chat', { model: of(model), messages: [{ role: 'user', content: TEXT }] }),
    read: streamed(
      (event) => event.message?.content ?? '',
      (event) => event.done === true,
      (event) => event.error !== undefined,
    ),
  },
};

/** Half a gigabyte or no end at all: they take seconds of everybody's time, and have tests of their own. */
const TOO_HEAVY = /^fault-(gzip-bomb|endless-)/;
/** What the upstream does on the second request of a connection: beside others nobody knows which one that is. */
const ON_REUSE = /^fault-(closes-idle|resets-reused)$/;

/** What the upstream may do wrong during a soak, by the model that is asked for. */
export const FAULTS: readonly (readonly [name: string, fault: Fault])[] = faultList.filter(
  ([name]) => !TOO_HEAVY.test(name) && !ON_REUSE.test(name),
);

/** Whether an answer is what was to come. Returns how it went; throws when it is something else. */
export function judge(way: Way, received: Received, expected: Expected): 'answered' | 'failed' {
  if (expected.kind === 'text') {
    assert.deepEqual(way.read(received), { text: expected.text, ended: true, told: false });
    return 'answered';
  }
  if (expected.kind === 'cut' && way.isWhole !== true) {
    assert.deepEqual(way.read(received), { text: expected.text, ended: false, told: true });
    return 'failed';
  }
  // Missing credentials are a chunk in a conversation, which its front ends act upon.
  if (expected.kind === 'error' && expected.status.includes(401) && received.status === 200) {
    assert.ok(way.read(received).told, 'a failure is told');
    return 'failed';
  }
  const statuses = expected.kind === 'error' ? expected.status : [500, 502, 504];
  assert.ok(
    statuses.includes(received.status),
    `status ${received.status} for one of ${statuses}: ${received.body.slice(0, 300)}`,
  );
  assert.notEqual(JSON.parse(received.body).error, undefined);
  return 'failed';
}
