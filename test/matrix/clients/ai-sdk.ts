import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import {
  AISDKError,
  APICallError,
  generateText,
  jsonSchema,
  Output,
  stepCountIs,
  streamText,
  type ToolSet,
  tool,
} from 'ai';
import {
  type Connected,
  type Counts,
  type Failure,
  type MatrixClient,
  PIXEL,
  QUESTION,
  resultOf,
  SCHEMA,
  SECOND_TOOL,
  SYSTEM,
  TOOL,
  WANTED,
} from '../vocabulary.ts';

/** The AI SDK, by its library for everything that is compatible with OpenAI. */
export const aiSdk: MatrixClient = {
  title: '`ai` with `@ai-sdk/openai-compatible`',
  packages: ['ai', '@ai-sdk/openai-compatible'],
  words: {
    temperature: 'temperature',
    maxTokens: 'max_tokens',
    stop: 'stop',
    seed: 'seed',
    toolChoice: 'tool_choice',
    oneCall: 'parallel_tool_calls',
    schema: 'response_format',
    anyJson: 'response_format',
    effort: 'reasoning_effort',
  },
  finishes: { stop: 'stop', calls: 'tool-calls' },
  handsBackThoughts: true,
  connect,
  failure,
};

function failure(thrown: unknown): Failure | undefined {
  if (APICallError.isInstance(thrown)) return { status: thrown.statusCode, message: thrown.message };
  return AISDKError.isInstance(thrown) ? { status: undefined, message: thrown.message } : undefined;
}

function connect(origin: string, headers: Readonly<Record<string, string>>): Connected {
  const sluice = createOpenAICompatible({
    name: 'sluice',
    baseURL: `${origin}/v1`,
    apiKey: 'secret',
    headers: { ...headers },
    includeUsage: true,
    supportsStructuredOutputs: true,
  });
  const asked = (model: string) => ({ model: sluice(model), prompt: QUESTION, maxRetries: 0 });
  /** Its own log of errors, which would fill that of the tests. */
  const quiet = { onError: () => {} };

  /** A loop with tools that the library runs by itself. */
  function tooled(names: readonly string[]): { made: { name: string; input: unknown }[]; tools: ToolSet } {
    const made: { name: string; input: unknown }[] = [];
    const tools = [TOOL, SECOND_TOOL].flatMap(({ name, description, parameters }) => {
      if (!names.includes(name)) return [];
      const used = tool({
        description,
        inputSchema: jsonSchema<object>(parameters),
        execute(input) {
          made.push({ name, input });
          return resultOf(name);
        },
      });
      return [[name, used]];
    });
    return { made, tools: Object.fromEntries(tools) };
  }

  return {
    async text(model) {
      const { text, finishReason } = await generateText({
        ...asked(model),
        instructions: SYSTEM,
        temperature: WANTED.temperature,
        maxOutputTokens: WANTED.maxTokens,
        stopSequences: [...WANTED.stop],
        seed: WANTED.seed,
      });
      return { text, finish: finishReason };
    },

    async stream(model) {
      const answer = streamText({ ...asked(model), ...quiet });
      return { text: await answer.text, finish: await answer.finishReason };
    },

    async tools(model) {
      const { made, tools } = tooled([TOOL.name]);
      const { text, finishReason } = await generateText({
        ...asked(model),
        tools,
        prepareStep: ({ stepNumber }) => ({ toolChoice: stepNumber === 0 ? WANTED.toolChoice : 'auto' }),
        stopWhen: stepCountIs(2),
      });
      return { text, finish: finishReason, calls: made };
    },

    async parallelTools(model) {
      const { made, tools } = tooled([TOOL.name, SECOND_TOOL.name]);
      const answer = streamText({ ...asked(model), ...quiet, tools, stopWhen: stepCountIs(2) });
      const [first] = await answer.steps;
      return { text: await answer.text, finish: first?.finishReason, calls: made };
    },

    oneCall: (model) =>
      generateText({
        ...asked(model),
        tools: tooled([TOOL.name, SECOND_TOOL.name]).tools,
        providerOptions: { sluice: { parallel_tool_calls: false } },
      }),

    async vision(model) {
      const { text, finishReason } = await generateText({
        model: sluice(model),
        maxRetries: 0,
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: QUESTION },
              { type: 'file', data: PIXEL, mediaType: 'image/png' },
            ],
          },
        ],
      });
      return { text, finish: finishReason };
    },

    async structured(model) {
      const output = Output.object({ schema: jsonSchema(SCHEMA) });
      return (await generateText({ ...asked(model), output })).output;
    },

    async anyJson(model) {
      return JSON.stringify((await generateText({ ...asked(model), output: Output.json() })).output);
    },

    async reasoning(model) {
      const { made, tools } = tooled([TOOL.name, SECOND_TOOL.name]);
      const answer = streamText({
        ...asked(model),
        ...quiet,
        tools,
        providerOptions: { sluice: { reasoningEffort: 'low' } },
        stopWhen: stepCountIs(2),
      });
      const [first] = await answer.steps;
      return { text: await answer.text, finish: first?.finishReason, calls: made, thoughts: first?.reasoningText };
    },

    async usage(model) {
      const streamed = streamText({ ...asked(model), ...quiet });
      const both = [(await generateText(asked(model))).usage, await streamed.usage];
      return both.map(
        ({ inputTokens, outputTokens, inputTokenDetails, outputTokenDetails }): Counts => ({
          prompt: inputTokens,
          completion: outputTokens,
          cached: inputTokenDetails.cacheReadTokens,
          reasoning: outputTokenDetails.reasoningTokens,
        }),
      );
    },

    ask: (model) => generateText(asked(model)),

    async listen(model, onText) {
      for await (const part of streamText({ ...asked(model), ...quiet }).fullStream) {
        if (part.type === 'text-delta') onText(part.text);
        if (part.type === 'error') throw part.error;
      }
    },

    async leave(model) {
      const leaving = new AbortController();
      const { textStream } = streamText({ ...asked(model), ...quiet, abortSignal: leaving.signal });
      for await (const text of textStream) if (text !== '') leaving.abort();
    },

    giveUp: (model, abortSignal) => generateText({ ...asked(model), abortSignal }),
  };
}
