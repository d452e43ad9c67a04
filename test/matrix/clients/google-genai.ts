import {
  ApiError,
  FunctionCallingConfigMode,
  type GenerateContentConfig,
  type GenerateContentResponse,
  GoogleGenAI,
  type Part,
  ThinkingLevel,
  type Tool,
} from '@google/genai';
import {
  type Connected,
  type Counts,
  type Heard,
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

const TOOLS: Tool[] = [
  {
    functionDeclarations: [TOOL, SECOND_TOOL].map(({ name, description, parameters }) => ({
      name,
      description,
      parametersJsonSchema: parameters,
    })),
  },
];

/** Google's library. */
export const googleGenAi: MatrixClient = {
  title: '`@google/genai`',
  packages: ['@google/genai'],
  words: {
    temperature: 'generationConfig.temperature',
    topK: 'generationConfig.topK',
    maxTokens: 'generationConfig.maxOutputTokens',
    stop: 'generationConfig.stopSequences',
    seed: 'generationConfig.seed',
    toolChoice: 'toolConfig.functionCallingConfig',
    schema: 'generationConfig.responseMimeType',
    anyJson: 'generationConfig.responseMimeType',
    effort: 'generationConfig.thinkingConfig',
  },
  finishes: { stop: 'STOP', calls: 'STOP' },
  handsBackThoughts: true,
  connect,
  failure,
};

function failure(thrown: unknown): { status: number | undefined; message: string } | undefined {
  if (thrown instanceof ApiError) return { status: thrown.status, message: thrown.message };
  // Inside a stream its library knows only the error that a read of its own brings; of any other it says this.
  if (thrown instanceof Error && /Incomplete JSON segment/.test(thrown.message)) {
    return { status: undefined, message: thrown.message };
  }
  return undefined;
}

function connect(origin: string, headers: Readonly<Record<string, string>>): Connected {
  const client = new GoogleGenAI({ apiKey: 'secret', httpOptions: { baseUrl: origin, headers: { ...headers } } });
  const ask = (model: string, config: GenerateContentConfig = {}): Promise<GenerateContentResponse> =>
    client.models.generateContent({ model, contents: QUESTION, config });
  const stream = (
    model: string,
    config: GenerateContentConfig = {},
  ): Promise<AsyncGenerator<GenerateContentResponse>> =>
    client.models.generateContentStream({ model, contents: QUESTION, config });

  /** A conversation that the library keeps by itself, thoughts and signatures included. */
  async function converse(model: string, config: GenerateContentConfig, isStreamed: boolean): Promise<Heard> {
    const chat = client.chats.create({ model, config });
    const first: GenerateContentResponse[] = [];
    if (isStreamed) {
      for await (const piece of await chat.sendMessageStream({ message: QUESTION })) first.push(piece);
    } else first.push(await chat.sendMessage({ message: QUESTION }));
    const calls = first.flatMap((piece) => piece.functionCalls ?? []);
    const last = await chat.sendMessage({
      message: calls.map(({ id, name = '' }): Part => {
        const response = { output: resultOf(name) };
        return { functionResponse: { ...(id === undefined ? {} : { id }), name, response } };
      }),
      // The model may speak now.
      config: { ...config, toolConfig: { functionCallingConfig: { mode: FunctionCallingConfigMode.AUTO } } },
    });
    return { ...heard(first), text: last.text ?? '' };
  }

  return {
    async text(model) {
      return heard([
        await ask(model, {
          systemInstruction: SYSTEM,
          temperature: WANTED.temperature,
          topK: WANTED.topK,
          maxOutputTokens: WANTED.maxTokens,
          stopSequences: [...WANTED.stop],
          seed: WANTED.seed,
        }),
      ]);
    },

    async stream(model) {
      const all: GenerateContentResponse[] = [];
      for await (const piece of await stream(model)) all.push(piece);
      return heard(all);
    },

    async tools(model) {
      const toolConfig = { functionCallingConfig: { mode: FunctionCallingConfigMode.ANY } };
      const tools = [{ functionDeclarations: TOOLS[0]?.functionDeclarations?.slice(0, 1) ?? [] }];
      return converse(model, { tools, toolConfig }, false);
    },

    parallelTools: (model) => converse(model, { tools: TOOLS }, true),

    async vision(model) {
      const parts = [{ text: QUESTION }, { inlineData: { mimeType: 'image/png', data: PIXEL } }];
      return heard([await client.models.generateContent({ model, contents: [{ role: 'user', parts }] })]);
    },

    async structured(model) {
      const config = { responseMimeType: 'application/json', responseJsonSchema: SCHEMA };
      return JSON.parse((await ask(model, config)).text ?? '');
    },

    async anyJson(model) {
      return (await ask(model, { responseMimeType: 'application/json' })).text ?? '';
    },

    reasoning: (model) =>
      converse(
        model,
        { tools: TOOLS, thinkingConfig: { includeThoughts: true, thinkingLevel: ThinkingLevel.LOW } },
        true,
      ),

    async usage(model) {
      const whole = await ask(model);
      let last: GenerateContentResponse | undefined;
      for await (const piece of await stream(model)) last = piece;
      return [counts(whole), counts(last)];
    },

    ask: (model) => ask(model),

    async listen(model, onText) {
      for await (const piece of await stream(model)) onText(piece.text ?? '');
    },

    async leave(model) {
      // Leaving the loop ends nothing with this library: it has a signal for that.
      const leaving = new AbortController();
      try {
        for await (const piece of await stream(model, { abortSignal: leaving.signal })) {
          if (piece.text !== undefined) leaving.abort();
        }
      } catch (error) {
        if (!leaving.signal.aborted) throw error;
      }
    },

    giveUp: (model, abortSignal) => ask(model, { abortSignal }),
  };
}

function heard(answers: readonly GenerateContentResponse[]): Heard {
  const candidates = answers.flatMap((answer) => answer.candidates?.[0] ?? []);
  const parts = candidates.flatMap(({ content }) => content?.parts ?? []);
  return {
    text: parts.map((part) => (part.thought === true ? '' : (part.text ?? ''))).join(''),
    thoughts: parts.map((part) => (part.thought === true ? (part.text ?? '') : '')).join(''),
    calls: parts.flatMap(({ functionCall: call }) =>
      call === undefined ? [] : [{ name: call.name ?? '', input: call.args }],
    ),
    finish: candidates.at(-1)?.finishReason,
  };
}

function counts(answer: GenerateContentResponse | undefined): Counts {
  const usage = answer?.usageMetadata;
  const { candidatesTokenCount: said = 0, thoughtsTokenCount: thought } = usage ?? {};
  return {
    prompt: usage?.promptTokenCount,
    // Here thoughts are counted beside the rest.
    completion: said + (thought ?? 0),
    cached: usage?.cachedContentTokenCount,
    reasoning: thought,
  };
}
