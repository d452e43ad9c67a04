import OpenAI from 'openai';
import { zodResponseFormat } from 'openai/helpers/zod';
import { z } from 'zod';
import {
  type Connected,
  type Failure,
  type Heard,
  type MatrixClient,
  PIXEL,
  QUESTION,
  resultOf,
  SECOND_TOOL,
  SYSTEM,
  TOOL,
  WANTED,
} from '../vocabulary.ts';

type Body = OpenAI.Chat.ChatCompletionCreateParams;
type Message = OpenAI.Chat.ChatCompletionMessageParam;

const ASK: Message[] = [{ role: 'user', content: QUESTION }];
const TOOLS: OpenAI.Chat.ChatCompletionFunctionTool[] = [TOOL, SECOND_TOOL].map((tool) => ({
  type: 'function',
  function: tool,
}));
const Weather = z.object({ city: z.string(), degrees: z.number() });

/** OpenAI's library, by chat completions. */
export const openAiChat: MatrixClient = {
  title: '`openai`, chat completions',
  packages: ['openai'],
  words: {
    temperature: 'temperature',
    maxTokens: 'max_tokens',
    stop: 'stop',
    seed: 'seed',
    toolChoice: 'tool_choice',
    oneCall: 'parallel_tool_calls',
    detail: 'detail',
    schema: 'response_format',
    anyJson: 'response_format',
    effort: 'reasoning_effort',
  },
  finishes: { stop: 'stop', calls: 'tool_calls' },
  handsBackThoughts: true,
  connect,
  failure: openAiFailure,
};

/** What errors of OpenAI's library say. */
export function openAiFailure(thrown: unknown): Failure | undefined {
  return thrown instanceof OpenAI.APIError ? { status: thrown.status, message: thrown.message } : undefined;
}

/** The library before the gateway. */
export function openAi(origin: string, defaultHeaders: Readonly<Record<string, string>>): OpenAI {
  return new OpenAI({ baseURL: `${origin}/v1`, apiKey: 'secret', maxRetries: 0, defaultHeaders });
}

function connect(origin: string, headers: Readonly<Record<string, string>>): Connected {
  const client = openAi(origin, headers);
  const create = (model: string, body: Partial<Body> = {}, signal?: AbortSignal) =>
    client.chat.completions.create({ model, messages: ASK, ...body, stream: false }, { signal });
  const stream = (model: string, body: Partial<Body> = {}) =>
    client.chat.completions.create({ model, messages: ASK, ...body, stream: true });

  return {
    async text(model) {
      return heard(
        await create(model, {
          messages: [{ role: 'system', content: SYSTEM }, ...ASK],
          temperature: WANTED.temperature,
          max_tokens: WANTED.maxTokens,
          stop: [...WANTED.stop],
          seed: WANTED.seed,
        }),
      );
    },

    async stream(model) {
      const { message: _, ...rest } = await readStream(await stream(model));
      return rest;
    },

    async tools(model) {
      const made: { name: string; input: unknown }[] = [];
      const runner = client.chat.completions.runTools({
        model,
        messages: ASK,
        tool_choice: WANTED.toolChoice,
        tools: [
          {
            type: 'function',
            function: {
              ...TOOL,
              parse: (written: string): object => JSON.parse(written),
              function(input: object) {
                made.push({ name: TOOL.name, input });
                return resultOf(TOOL.name);
              },
            },
          },
        ],
      });
      const last = await runner.finalChatCompletion();
      return { ...heard(last), calls: made };
    },

    async parallelTools(model) {
      const helper = client.chat.completions.stream({ model, messages: ASK, tools: TOOLS });
      const first = await helper.finalChatCompletion();
      const message = first.choices[0]?.message;
      const last = await create(model, {
        tools: TOOLS,
        messages: message === undefined ? [] : [...ASK, message, ...resultsFor(message)],
      });
      return { ...heard(first), text: heard(last).text };
    },

    oneCall: (model) => create(model, { tools: TOOLS, parallel_tool_calls: false }),

    async vision(model) {
      const image_url = { url: `data:image/png;base64,${PIXEL}`, detail: WANTED.detail };
      return heard(
        await create(model, {
          messages: [
            {
              role: 'user',
              content: [
                { type: 'text', text: QUESTION },
                { type: 'image_url', image_url },
              ],
            },
          ],
        }),
      );
    },

    async structured(model) {
      const response_format = zodResponseFormat(Weather, 'weather');
      const answer = await client.chat.completions.parse({ model, messages: ASK, response_format });
      return answer.choices[0]?.message.parsed;
    },

    async anyJson(model) {
      return heard(await create(model, { response_format: { type: 'json_object' } })).text;
    },

    async reasoning(model) {
      const body: Partial<Body> = { tools: TOOLS, reasoning_effort: 'low' };
      const { message, ...first } = await readStream(await stream(model, body));
      // As servers that think in this format want them back; the library's types do not know it.
      const said: Message & { reasoning_content?: string | undefined } = {
        ...message,
        reasoning_content: first.thoughts,
      };
      const last = await create(model, { ...body, messages: [...ASK, said, ...resultsFor(message)] });
      return { ...first, text: heard(last).text };
    },

    async usage(model) {
      const whole = await create(model);
      let streamed: OpenAI.CompletionUsage | null | undefined;
      for await (const chunk of await stream(model, { stream_options: { include_usage: true } })) {
        streamed = chunk.usage ?? streamed;
      }
      return [whole.usage, streamed].map((usage) => ({
        prompt: usage?.prompt_tokens,
        completion: usage?.completion_tokens,
        cached: usage?.prompt_tokens_details?.cached_tokens,
        reasoning: usage?.completion_tokens_details?.reasoning_tokens,
      }));
    },

    ask: (model) => create(model),

    async listen(model, onText) {
      for await (const chunk of await stream(model)) onText(chunk.choices[0]?.delta.content ?? '');
    },

    async leave(model) {
      for await (const chunk of await stream(model)) if (chunk.choices[0]?.delta.content) break;
    },

    giveUp: (model, signal) => create(model, {}, signal),
  };
}

function heard(answer: OpenAI.Chat.ChatCompletion): Heard {
  const [choice] = answer.choices;
  return {
    text: choice?.message.content ?? '',
    finish: choice?.finish_reason,
    calls: (choice?.message.tool_calls ?? []).flatMap((call) =>
      call.type === 'function' ? [{ name: call.function.name, input: JSON.parse(call.function.arguments) }] : [],
    ),
  };
}

function resultsFor(message: OpenAI.Chat.ChatCompletionAssistantMessageParam): Message[] {
  return (message.tool_calls ?? []).flatMap((call): Message[] =>
    call.type === 'function' ? [{ role: 'tool', tool_call_id: call.id, content: resultOf(call.function.name) }] : [],
  );
}

/** A stream put together by hand, as a program does that shows thoughts. */
async function readStream(
  chunks: AsyncIterable<OpenAI.Chat.ChatCompletionChunk>,
): Promise<Heard & { message: OpenAI.Chat.ChatCompletionAssistantMessageParam }> {
  let text = '';
  const calls: { id: string; name: string; arguments: string }[] = [];
  let thoughts = '';
  let finish: string | null | undefined;
  for await (const { choices } of chunks) {
    const [choice] = choices;
    if (choice === undefined) continue;
    const delta: typeof choice.delta & { readonly reasoning_content?: string } = choice.delta;
    text += delta.content ?? '';
    thoughts += delta.reasoning_content ?? '';
    for (const { index, id, function: called } of delta.tool_calls ?? []) {
      const call = calls[index] ?? { id: '', name: '', arguments: '' };
      calls[index] = call;
      call.id = id ?? call.id;
      call.name += called?.name ?? '';
      call.arguments += called?.arguments ?? '';
    }
    finish = choice.finish_reason ?? finish;
  }
  return {
    text,
    thoughts,
    finish,
    calls: calls.map(({ name, arguments: written }) => ({ name, input: JSON.parse(written) })),
    message: {
      role: 'assistant',
      content: text,
      tool_calls: calls.map(({ id, ...called }) => ({ id, type: 'function', function: called })),
    },
  };
}
