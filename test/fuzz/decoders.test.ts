import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { z } from 'zod';
import { defaultLimits } from '../../src/config/defaults.ts';
import type { ChatRequest } from '../../src/core/chat.ts';
import { SluiceError } from '../../src/core/errors.ts';
import { withAction } from '../../src/http/backend/action.ts';
import { ConversationBody } from '../../src/http/backend/wire.ts';
import { decode as decodeGemini } from '../../src/http/gemini/decode.ts';
import { GenerateContentBody } from '../../src/http/gemini/wire.ts';
import { decodeMessages } from '../../src/http/messages/decode.ts';
import { MessagesBody } from '../../src/http/messages/wire.ts';
import { chatToRequest, generateToRequest } from '../../src/http/ollama/decode.ts';
import { ChatBody, GenerateBody } from '../../src/http/ollama/wire.ts';
import {
  searchOf,
  toFields as toResponseFields,
  toMessages as toResponseMessages,
} from '../../src/http/responses/decode.ts';
import { inputOf } from '../../src/http/responses/input.ts';
import type { ResponseDeps } from '../../src/http/responses/store.ts';
import { ResponseBody } from '../../src/http/responses/wire.ts';
import { toChatFields, toMessages } from '../../src/http/to-chat.ts';
import { ChatCompletionBody } from '../../src/http/v1/wire.ts';
import { validate } from '../../src/http/validate.ts';
import { toMessagesBody } from '../../src/providers/ai-sdk/anthropic-body.ts';
import { toGenerateBody } from '../../src/providers/ai-sdk/google-body.ts';
import { toPrompt } from '../../src/providers/ai-sdk/prompt.ts';
import { toResponsesBody } from '../../src/providers/ai-sdk/responses-body.ts';
import { encodeRequest } from '../../src/providers/openai/encode.ts';
import { property } from './cases.ts';
import { hostile, type Schema, SchemaValues, spoilt } from './schema-values.ts';

const CASES = 250;
const WISH = { model: 'acme/test-model', providers: [], ignored: [] };
/** Nothing is stored, so references lead nowhere. */
const NO_STORE = {
  stores: { records: () => ({ get: async () => undefined }) },
  config: () => ({ limits: defaultLimits }),
} as unknown as ResponseDeps;

type Body = Readonly<Record<string, unknown>>;

interface Dialect {
  readonly name: string;
  readonly schema: z.ZodType;
  decode(value: Body): ChatRequest | Promise<ChatRequest>;
}

const REST = { ...WISH, sampling: {}, downloadMedia: false, extra: {} };

const DIALECTS: readonly Dialect[] = [
  {
    name: 'chat completions',
    schema: ChatCompletionBody,
    decode(value) {
      const body = validate(ChatCompletionBody, value, 'invalid_field');
      return { ...REST, messages: toMessages(body.messages), ...toChatFields(body) };
    },
  },
  {
    name: 'conversation',
    schema: ConversationBody,
    decode(value) {
      const body = validate(ConversationBody, value, 'invalid_request');
      const { messages } = withAction(body.action, toMessages(body.messages));
      return { ...REST, messages, ...toChatFields(body) };
    },
  },
  {
    name: 'responses',
    schema: ResponseBody,
    async decode(value) {
      const body = validate(ResponseBody, value, 'invalid_field');
      const items = await inputOf(body, 'resp_1', NO_STORE);
      searchOf(body);
      return { ...REST, messages: toResponseMessages(items, body.instructions).value, ...toResponseFields(body).value };
    },
  },
  {
    name: 'messages',
    schema: MessagesBody,
    decode: (value) => decodeMessages(value, validate(MessagesBody, value, 'invalid_request'), WISH, []).request,
  },
  {
    name: 'generateContent',
    schema: GenerateContentBody,
    decode: (value) => decodeGemini(validate(GenerateContentBody, value, 'invalid_request'), WISH).request,
  },
  {
    name: 'Ollama chat',
    schema: ChatBody,
    decode: (value) => chatToRequest(validate(ChatBody, value, 'invalid_request'), WISH),
  },
  {
    name: 'Ollama generate',
    schema: GenerateBody,
    decode: (value) => generateToRequest(validate(GenerateBody, value, 'invalid_request'), WISH),
  },
];

const ENCODERS: Readonly<Record<string, (request: ChatRequest) => unknown>> = {
  'chat completions': (request) => encodeRequest(request, true),
  messages: (request) => toMessagesBody(request, () => {}),
  generateContent: (request) => toGenerateBody(request),
  responses: (request) => toResponsesBody(request, () => {}),
  'the vendors’ libraries': ({ messages }) =>
    toPrompt(messages, { label: 'acme', supportedUrls: {}, recall: () => undefined }),
};

/** Bodies that were neither taken nor refused once. */
const CORPUS: readonly string[] = [
  '{"model":{"length":{"toString":1}}}',
  '{"messages":{"length":{"valueOf":1,"toString":1}}}',
];

describe('what a client sends, in each dialect', () => {
  for (const { name, decode } of DIALECTS) {
    for (const body of CORPUS) {
      test(`${name}: ${body} is taken or refused`, async () => {
        try {
          await decode(JSON.parse(body));
        } catch (error) {
          assertRefusal(error, body);
        }
      });
    }
  }
  for (const { name, schema, decode } of DIALECTS) {
    test(`${name}: becomes a request or a refusal, and every upstream's format can say it`, async (context) => {
      const { $schema: _, ...json } = z.toJSONSchema(schema, { io: 'output', unrepresentable: 'any' });
      const values = new SchemaValues(json as Schema, hints);
      let taken = 0;
      let all = 0;
      await property(CASES, async (random) => {
        const fitting = values.fitting(json as Schema, random);
        const value = asSent(
          random.chance(0.4) ? fitting : random.chance(0.8) ? spoilt(fitting, random) : hostile(random),
        );
        all += 1;
        let request: ChatRequest;
        try {
          request = await decode(value as Body);
        } catch (error) {
          assertRefusal(error, value);
          return;
        }
        taken += 1;
        assert.ok(Array.isArray(request.messages));
        for (const [format, encode] of Object.entries(ENCODERS)) {
          try {
            assert.equal(typeof JSON.stringify(encode(request)), 'string');
          } catch (error) {
            assertRefusal(error, value, format);
          }
        }
      });
      context.diagnostic(`${taken} of ${all} were taken`);
      assert.ok(all < 50 || taken > all / 20, `only ${taken} of ${all} were taken`);
    });
  }
});

function assertRefusal(error: unknown, value: unknown, format = 'decoding'): void {
  // Buckets become text, or are refused, before a provider is asked; media that a provider does not take are its 501.
  const isUnable =
    error instanceof SluiceError &&
    error.code === 'not_supported' &&
    (error.message.startsWith('Bucket') || error.options.param === 'messages');
  const isRefusal = error instanceof SluiceError && ((error.status >= 400 && error.status < 500) || isUnable);
  if (!isRefusal) throw new Error(`${format}: ${JSON.stringify(value).slice(0, 2_000)}`, { cause: error });
  assert.notEqual(error.message, '');
}

/** As it is after its way over the wire: no members that are undefined, and an object outermost, which the edge sees to. */
function asSent(value: unknown): unknown {
  const sent = JSON.parse(JSON.stringify(value) ?? 'null');
  return typeof sent === 'object' && sent !== null && !Array.isArray(sent) ? sent : { messages: sent };
}

const PICTURE = 'data:image/png;base64,iVBORw0KGgo=';
function hints(name: string): unknown {
  if (name === 'model') return 'acme/test-model';
  if (name === 'url' || name === 'image_url') return PICTURE;
  return undefined;
}
