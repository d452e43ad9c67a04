import {
  type AIMessageChunk,
  type BaseMessage,
  HumanMessage,
  SystemMessage,
  ToolMessage,
  type UsageMetadata,
} from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { ChatOpenAI, type ChatOpenAIFields } from '@langchain/openai';
import { z } from 'zod';
import {
  type Connected,
  type Counts,
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

const TOOLS = [TOOL, SECOND_TOOL].map(({ name, description, parameters }) =>
  tool(() => resultOf(name), { name, description, schema: parameters }),
);
const Weather = z.object({ city: z.string(), degrees: z.number() });
const ASK = [new HumanMessage(QUESTION)];

/** LangChain, by chat completions. */
export const langChain: MatrixClient = {
  title: '`@langchain/openai`',
  packages: ['@langchain/openai'],
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
  handsBackThoughts: false,
  connect: (origin, headers) => connect(origin, headers, {}),
  failure,
};

/** LangChain, by the Responses API. */
export const langChainResponses: MatrixClient = {
  title: '`@langchain/openai`, responses',
  packages: ['@langchain/openai'],
  words: {
    temperature: 'temperature',
    maxTokens: 'max_output_tokens',
    oneCall: 'parallel_tool_calls',
    detail: 'detail',
    schema: 'text.format',
    anyJson: 'text.format',
    effort: 'reasoning.effort',
  },
  finishes: { stop: 'completed', calls: 'completed' },
  handsBackThoughts: true,
  connect: (origin, headers) => connect(origin, headers, { useResponsesApi: true, zdrEnabled: true }),
  failure,
};

/** It throws what OpenAI's library throws, a copy of its own, with marks on it. */
function failure(thrown: unknown): Failure | undefined {
  if (!(thrown instanceof Error)) return undefined;
  const status = 'status' in thrown && typeof thrown.status === 'number' ? thrown.status : undefined;
  return { status, message: thrown.message };
}

function connect(
  origin: string,
  defaultHeaders: Readonly<Record<string, string>>,
  api: Pick<ChatOpenAIFields, 'useResponsesApi' | 'zdrEnabled'>,
): Connected {
  const open = (model: string, fields: ChatOpenAIFields = {}): ChatOpenAI =>
    new ChatOpenAI({
      model,
      apiKey: 'secret',
      maxRetries: 0,
      configuration: { baseURL: `${origin}/v1`, defaultHeaders },
      ...api,
      ...fields,
    });
  const isResponses = api.useResponsesApi === true;

  /** Answers the calls of `first`, and gets the last word. */
  async function goOn(first: AIMessageChunk, again: ReturnType<ChatOpenAI['bindTools']>): Promise<Heard> {
    const messages: BaseMessage[] = [...ASK, first];
    for (const call of first.tool_calls ?? []) {
      messages.push(new ToolMessage({ content: resultOf(call.name), tool_call_id: call.id ?? '' }));
    }
    const last = await again.invoke(messages);
    return { ...heard(first), text: last.text };
  }

  async function whole(chunks: AsyncIterable<AIMessageChunk>): Promise<AIMessageChunk> {
    let all: AIMessageChunk | undefined;
    for await (const chunk of chunks) all = all === undefined ? chunk : all.concat(chunk);
    if (all === undefined) throw new Error('the stream is empty');
    return all;
  }

  return {
    async text(model) {
      const llm = open(model, {
        temperature: WANTED.temperature,
        maxTokens: WANTED.maxTokens,
        ...(isResponses ? {} : { stop: [...WANTED.stop], modelKwargs: { seed: WANTED.seed } }),
      });
      return heard(await llm.invoke([new SystemMessage(SYSTEM), ...ASK]));
    },

    async stream(model) {
      const chunks: AIMessageChunk[] = [];
      for await (const chunk of await open(model).stream(ASK)) chunks.push(chunk);
      const [first, ...rest] = chunks;
      const all = rest.reduce((sum, chunk) => sum.concat(chunk), first ?? (new Error('the stream is empty') as never));
      return heard(all);
    },

    async tools(model) {
      const llm = open(model);
      const tools = TOOLS.slice(0, 1);
      // With the Responses API it insists on a tool by name only.
      const first = await llm.bindTools(tools, isResponses ? {} : { tool_choice: WANTED.toolChoice }).invoke(ASK);
      return goOn(first, llm.bindTools(tools));
    },

    async parallelTools(model) {
      const llm = open(model).bindTools(TOOLS);
      return goOn(await whole(await llm.stream(ASK)), llm);
    },

    oneCall: (model) => open(model).bindTools(TOOLS, { parallel_tool_calls: false }).invoke(ASK),

    async vision(model) {
      const image_url = { url: `data:image/png;base64,${PIXEL}`, detail: WANTED.detail };
      const content = [
        { type: 'text', text: QUESTION },
        { type: 'image_url', image_url },
      ];
      return heard(await open(model).invoke([new HumanMessage({ content })]));
    },

    structured: (model) =>
      open(model).withStructuredOutput(Weather, { name: 'weather', method: 'jsonSchema' }).invoke(ASK),

    async anyJson(model) {
      const value = await open(model).withStructuredOutput(Weather, { method: 'jsonMode' }).invoke(ASK);
      return JSON.stringify(value);
    },

    async reasoning(model) {
      // Its own field goes to models only that OpenAI calls by these names.
      const modelKwargs = isResponses ? { reasoning: { effort: 'low' } } : { reasoning_effort: 'low' };
      const llm = open(model, { modelKwargs }).bindTools(TOOLS);
      return goOn(await whole(await llm.stream(ASK)), llm);
    },

    async usage(model) {
      const both = [await open(model).invoke(ASK), await whole(await open(model).stream(ASK))];
      return both.map(
        // Its types lose this one.
        ({ usage_metadata: usage }: { readonly usage_metadata?: UsageMetadata | undefined }): Counts => ({
          prompt: usage?.input_tokens,
          completion: usage?.output_tokens,
          cached: usage?.input_token_details?.cache_read,
          reasoning: usage?.output_token_details?.reasoning,
        }),
      );
    },

    ask: (model) => open(model).invoke(ASK),

    async listen(model, onText) {
      for await (const chunk of await open(model).stream(ASK)) onText(chunk.text);
    },

    async leave(model) {
      const leaving = new AbortController();
      const { signal } = leaving;
      try {
        for await (const chunk of await open(model).stream(ASK, { signal })) if (chunk.text !== '') leaving.abort();
      } catch (error) {
        if (!signal.aborted) throw error;
      }
    },

    giveUp: (model, signal) => open(model).invoke(ASK, { signal }),
  };
}

function heard(message: AIMessageChunk): Heard {
  const { response_metadata: metadata } = message;
  const blocks = message.contentBlocks.map((block) => (block.type === 'reasoning' ? block.reasoning : ''));
  // With chat completions it leaves them where the wire has them.
  const { reasoning_content: thoughts } = message.additional_kwargs;
  return {
    text: message.text,
    thoughts: typeof thoughts === 'string' ? thoughts : blocks.join(''),
    calls: (message.tool_calls ?? []).map(({ name, args }) => ({ name, input: args })),
    finish: String(metadata['finish_reason'] ?? metadata['status']),
  };
}
