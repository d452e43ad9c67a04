import type { OpenAI } from 'openai';
import { zodTextFormat } from 'openai/helpers/zod';
import type {
  FunctionTool,
  Response,
  ResponseCreateParams,
  ResponseInputItem,
  ResponseStreamEvent,
} from 'openai/resources/responses/responses';
import { z } from 'zod';
import {
  type Connected,
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
import { openAi, openAiFailure } from './openai-chat.ts';

type Body = Partial<ResponseCreateParams>;

const TOOLS = [TOOL, SECOND_TOOL].map((tool): FunctionTool => ({ type: 'function', ...tool, strict: true }));
const Weather = z.object({ city: z.string(), degrees: z.number() });

/** OpenAI's library, by the Responses API. */
export const openAiResponses: MatrixClient = {
  title: '`openai`, responses',
  packages: ['openai'],
  words: {
    temperature: 'temperature',
    maxTokens: 'max_output_tokens',
    toolChoice: 'tool_choice',
    oneCall: 'parallel_tool_calls',
    detail: 'detail',
    schema: 'text.format',
    anyJson: 'text.format',
    effort: 'reasoning.effort',
  },
  finishes: { stop: 'completed', calls: 'completed' },
  handsBackThoughts: true,
  connect,
  failure: openAiFailure,
};

function connect(origin: string, headers: Readonly<Record<string, string>>): Connected {
  const client = openAi(origin, headers);
  const create = (model: string, body: Body = {}, signal?: AbortSignal): Promise<Response> =>
    client.responses.create({ model, input: QUESTION, ...body, stream: false }, { signal });
  const stream = (model: string, body: Body = {}) =>
    client.responses.create({ model, input: QUESTION, ...body, stream: true });

  return {
    async text(model) {
      return heard(
        await create(model, {
          instructions: SYSTEM,
          temperature: WANTED.temperature,
          max_output_tokens: WANTED.maxTokens,
        }),
      );
    },

    async stream(model) {
      return heard((await readStream(await stream(model))).answer);
    },

    async tools(model) {
      const body: Body = { tools: TOOLS.slice(0, 1), tool_choice: WANTED.toolChoice };
      const first = await create(model, body);
      // What was said before is kept by the server.
      const last = await create(model, {
        ...body,
        tool_choice: 'auto',
        previous_response_id: first.id,
        input: resultsFor(first),
      });
      return { ...heard(last), calls: heard(first).calls ?? [] };
    },

    async parallelTools(model) {
      const { answer } = await readStream(await stream(model, { tools: TOOLS }));
      const last = await create(model, { tools: TOOLS, input: goOn(answer) });
      return { ...heard(answer), text: last.output_text };
    },

    oneCall: (model) => create(model, { tools: TOOLS, parallel_tool_calls: false }),

    async vision(model) {
      const image_url = `data:image/png;base64,${PIXEL}`;
      return heard(
        await create(model, {
          input: [
            {
              role: 'user',
              content: [
                { type: 'input_text', text: QUESTION },
                { type: 'input_image', image_url, detail: WANTED.detail },
              ],
            },
          ],
        }),
      );
    },

    async structured(model) {
      const text = { format: zodTextFormat(Weather, 'weather') };
      return (await client.responses.parse({ model, input: QUESTION, text })).output_parsed;
    },

    async anyJson(model) {
      return (await create(model, { text: { format: { type: 'json_object' } } })).output_text;
    },

    async reasoning(model) {
      const body: Body = {
        tools: TOOLS,
        reasoning: { effort: 'low' },
        include: ['reasoning.encrypted_content'],
        store: false,
      };
      const { answer, thoughts } = await readStream(await stream(model, body));
      const last = await create(model, { ...body, input: goOn(answer) });
      return { ...heard(answer), thoughts, text: last.output_text };
    },

    async usage(model) {
      const whole = await create(model);
      const { answer } = await readStream(await stream(model));
      return [whole, answer].map(({ usage }) => ({
        prompt: usage?.input_tokens,
        completion: usage?.output_tokens,
        cached: usage?.input_tokens_details.cached_tokens,
        reasoning: usage?.output_tokens_details.reasoning_tokens,
      }));
    },

    ask: (model) => create(model),

    async listen(model, onText) {
      for await (const event of await stream(model)) {
        if (event.type === 'response.output_text.delta') onText(event.delta);
      }
    },

    async leave(model) {
      for await (const event of await stream(model)) if (event.type === 'response.output_text.delta') break;
    },

    giveUp: (model, signal) => create(model, {}, signal),
  };
}

function heard(answer: Response): Heard {
  return {
    text: answer.output_text,
    finish: answer.status,
    calls: answer.output.flatMap((item) =>
      item.type === 'function_call' ? [{ name: item.name, input: JSON.parse(item.arguments) }] : [],
    ),
  };
}

/** The conversation as a client keeps it that has nothing stored. */
function goOn(answer: Response): ResponseInputItem[] {
  // The library's types of items that come differ from those that go, though the API takes them back.
  const said = answer.output as OpenAI.Responses.ResponseInputItem[];
  return [{ role: 'user', content: QUESTION }, ...said, ...resultsFor(answer)];
}

function resultsFor({ output }: Response): ResponseInputItem[] {
  return output.flatMap((item): ResponseInputItem[] =>
    item.type === 'function_call'
      ? [{ type: 'function_call_output', call_id: item.call_id, output: resultOf(item.name) }]
      : [],
  );
}

async function readStream(events: AsyncIterable<ResponseStreamEvent>): Promise<{ answer: Response; thoughts: string }> {
  let text = '';
  let thoughts = '';
  for await (const event of events) {
    if (event.type === 'response.output_text.delta') text += event.delta;
    if (event.type === 'response.reasoning_summary_text.delta') thoughts += event.delta;
    // The library adds this member to whole answers only.
    if (event.type === 'response.completed') {
      return { answer: { ...event.response, output_text: text }, thoughts };
    }
  }
  throw new Error('the stream never completes');
}
