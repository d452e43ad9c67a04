import Anthropic from '@anthropic-ai/sdk';
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema';
import { zodOutputFormat } from '@anthropic-ai/sdk/helpers/zod';
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

/** The fields for sampling are no longer in the library's types, since Anthropic's newest models do not have them. */
type Params = Anthropic.MessageCreateParamsNonStreaming & { temperature?: number; top_k?: number };

const ASK: Anthropic.MessageParam[] = [{ role: 'user', content: QUESTION }];
const TOOLS = [TOOL, SECOND_TOOL].map(
  ({ name, description, parameters }): Anthropic.Tool => ({
    name,
    description,
    input_schema: parameters,
  }),
);
const Weather = z.object({ city: z.string(), degrees: z.number() });

/** Anthropic's library. */
export const anthropic: MatrixClient = {
  title: '`@anthropic-ai/sdk`',
  packages: ['@anthropic-ai/sdk'],
  words: {
    temperature: 'temperature',
    topK: 'top_k',
    maxTokens: 'max_tokens',
    stop: 'stop_sequences',
    toolChoice: 'tool_choice',
    oneCall: 'tool_choice.disable_parallel_tool_use',
    schema: 'output_config.format',
    effort: 'thinking',
  },
  finishes: { stop: 'end_turn', calls: 'tool_use' },
  handsBackThoughts: true,
  connect,
  failure: (thrown) =>
    thrown instanceof Anthropic.APIError ? { status: thrown.status, message: thrown.message } : undefined,
};

function connect(origin: string, defaultHeaders: Readonly<Record<string, string>>): Connected {
  const client = new Anthropic({ baseURL: origin, apiKey: 'secret', maxRetries: 0, defaultHeaders });
  const asked = (model: string, params: Partial<Params>): Params => ({
    model,
    max_tokens: 1_000,
    messages: ASK,
    ...params,
  });
  const create = (model: string, params: Partial<Params> = {}, signal?: AbortSignal): Promise<Anthropic.Message> =>
    client.messages.create(asked(model, params), { signal });
  const stream = (model: string, params: Partial<Params> = {}) => client.messages.stream(asked(model, params));

  return {
    async text(model) {
      return heard(
        await create(model, {
          system: SYSTEM,
          temperature: WANTED.temperature,
          top_k: WANTED.topK,
          max_tokens: WANTED.maxTokens,
          stop_sequences: [...WANTED.stop],
        }),
      );
    },

    async stream(model) {
      return heard(await stream(model).finalMessage());
    },

    async tools(model) {
      const made: { name: string; input: unknown }[] = [];
      const weather = betaTool({
        name: TOOL.name,
        description: TOOL.description,
        inputSchema: TOOL.parameters,
        run(input) {
          made.push({ name: TOOL.name, input });
          return resultOf(TOOL.name);
        },
      });
      const last = await client.beta.messages.toolRunner({
        ...{ model, max_tokens: 1_000, messages: [{ role: 'user', content: QUESTION }] },
        tools: [weather],
        tool_choice: { type: 'any' },
        // Whoever holds the conversation, `messages-threads.test.ts` has it. Here all of it arrives.
        thread: false,
      });
      return {
        text: last.content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
        finish: last.stop_reason,
        calls: made,
      };
    },

    async parallelTools(model) {
      const first = await stream(model, { tools: TOOLS }).finalMessage();
      const last = await create(model, { tools: TOOLS, messages: goOn(first) });
      return { ...heard(first), text: heard(last).text };
    },

    oneCall: (model) => create(model, { tools: TOOLS, tool_choice: { type: 'auto', disable_parallel_tool_use: true } }),

    async vision(model) {
      const source = { type: 'base64', media_type: 'image/png', data: PIXEL } as const;
      const messages: Anthropic.MessageParam[] = [
        {
          role: 'user',
          content: [
            { type: 'image', source },
            { type: 'text', text: QUESTION },
          ],
        },
      ];
      return heard(await create(model, { messages }));
    },

    async structured(model) {
      const output_config = { format: zodOutputFormat(Weather) };
      return (await client.messages.parse({ ...asked(model, {}), output_config })).parsed_output;
    },

    async reasoning(model) {
      const params: Partial<Params> = {
        max_tokens: 4_000,
        tools: TOOLS,
        thinking: { type: 'enabled', budget_tokens: 2_000 },
      };
      const first = await stream(model, params).finalMessage();
      const last = await create(model, { ...params, messages: goOn(first) });
      return { ...heard(first), text: heard(last).text };
    },

    async usage(model) {
      const both = [await create(model), await stream(model).finalMessage()];
      return both.map(({ usage }) => ({
        // Here what came from the cache is counted beside the rest.
        prompt: usage.input_tokens + (usage.cache_read_input_tokens ?? 0),
        completion: usage.output_tokens,
        cached: usage.cache_read_input_tokens ?? undefined,
        reasoning: usage.output_tokens_details?.thinking_tokens,
      }));
    },

    ask: (model) => create(model),

    async listen(model, onText) {
      for await (const event of stream(model)) {
        if (event.type === 'content_block_delta' && event.delta.type === 'text_delta') onText(event.delta.text);
      }
    },

    async leave(model) {
      for await (const event of stream(model)) if (event.type === 'content_block_delta') break;
    },

    giveUp: (model, signal) => create(model, {}, signal),
  };
}

function heard(message: Anthropic.Message): Heard {
  return {
    text: message.content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
    thoughts: message.content.map((block) => (block.type === 'thinking' ? block.thinking : '')).join(''),
    calls: message.content.flatMap((block) =>
      block.type === 'tool_use' ? [{ name: block.name, input: block.input }] : [],
    ),
    finish: message.stop_reason,
  };
}

function goOn(message: Anthropic.Message): Anthropic.MessageParam[] {
  const results = message.content.flatMap((block): Anthropic.ToolResultBlockParam[] =>
    block.type === 'tool_use' ? [{ type: 'tool_result', tool_use_id: block.id, content: resultOf(block.name) }] : [],
  );
  return [...ASK, { role: 'assistant', content: message.content }, { role: 'user', content: results }];
}
