import { type ChatRequest, type ChatResponse, type Message, Ollama, type Tool } from 'ollama';
import {
  type Connected,
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

const ASK: Message[] = [{ role: 'user', content: QUESTION }];
const TOOLS = [TOOL, SECOND_TOOL].map(
  ({ name, description, parameters }): Tool => ({
    type: 'function',
    function: { name, description, parameters },
  }),
);

/** Ollama's library. */
export const ollama: MatrixClient = {
  title: '`ollama`',
  packages: ['ollama'],
  words: {
    temperature: 'options.temperature',
    topK: 'options.top_k',
    maxTokens: 'options.num_predict',
    stop: 'options.stop',
    seed: 'options.seed',
    schema: 'format',
    anyJson: 'format',
    effort: 'think',
  },
  finishes: { stop: 'stop', calls: 'stop' },
  deaf: {
    cached: 'Ollama’s answers count no cached tokens',
    reasoningTokens: 'Ollama’s answers count thoughts among the rest',
  },
  handsBackThoughts: true,
  connect,
  failure,
};

/** Its class of errors is not exported. Inside a stream it throws plain ones. */
function failure(thrown: unknown): { status: number | undefined; message: string } | undefined {
  if (!(thrown instanceof Error)) return undefined;
  const status = 'status_code' in thrown && typeof thrown.status_code === 'number' ? thrown.status_code : undefined;
  return { status, message: thrown.message };
}

function connect(host: string, headers: Readonly<Record<string, string>>): Connected {
  const client = new Ollama({ host, headers: { ...headers } });
  const ask = (model: string, fields: Partial<ChatRequest> = {}): Promise<ChatResponse> =>
    client.chat({ model, messages: ASK, ...fields, stream: false });
  const stream = (model: string, fields: Partial<ChatRequest> = {}) =>
    client.chat({ model, messages: ASK, ...fields, stream: true });

  return {
    async text(model) {
      return heard([
        await ask(model, {
          messages: [{ role: 'system', content: SYSTEM }, ...ASK],
          options: {
            temperature: WANTED.temperature,
            top_k: WANTED.topK,
            num_predict: WANTED.maxTokens,
            stop: [...WANTED.stop],
            seed: WANTED.seed,
          },
        }),
      ]);
    },

    async stream(model) {
      return heard(await readLines(await stream(model)));
    },

    async tools(model) {
      const tools = TOOLS.slice(0, 1);
      const first = await ask(model, { tools });
      const last = await ask(model, { tools, messages: goOn([first]) });
      return { ...heard([first]), text: last.message.content, finish: last.done_reason };
    },

    async parallelTools(model) {
      const lines = await readLines(await stream(model, { tools: TOOLS }));
      const last = await ask(model, { tools: TOOLS, messages: goOn(lines) });
      return { ...heard(lines), text: last.message.content };
    },

    async vision(model) {
      return heard([await ask(model, { messages: [{ role: 'user', content: QUESTION, images: [PIXEL] }] })]);
    },

    async structured(model) {
      return JSON.parse((await ask(model, { format: SCHEMA })).message.content);
    },

    async anyJson(model) {
      return (await ask(model, { format: 'json' })).message.content;
    },

    async reasoning(model) {
      const lines = await readLines(await stream(model, { tools: TOOLS, think: 'low' }));
      const last = await ask(model, { tools: TOOLS, think: 'low', messages: goOn(lines) });
      return { ...heard(lines), text: last.message.content };
    },

    async usage(model) {
      const whole = await ask(model);
      const last = (await readLines(await stream(model))).at(-1);
      return [whole, last].map((line) => ({ prompt: line?.prompt_eval_count, completion: line?.eval_count }));
    },

    ask: (model) => ask(model),

    async listen(model, onText) {
      for await (const line of await stream(model)) onText(line.message.content);
    },

    async leave(model) {
      const lines = await stream(model);
      try {
        for await (const line of lines) if (line.message.content !== '') lines.abort();
      } catch (error) {
        if (!(error instanceof Error) || error.name !== 'AbortError') throw error;
      }
    },
  };
}

async function readLines(stream: AsyncIterable<ChatResponse>): Promise<ChatResponse[]> {
  const lines: ChatResponse[] = [];
  for await (const line of stream) lines.push(line);
  return lines;
}

function heard(lines: readonly ChatResponse[]): Heard {
  return {
    text: lines.map(({ message }) => message.content).join(''),
    thoughts: lines.map(({ message }) => message.thinking ?? '').join(''),
    calls: lines.flatMap(({ message }) =>
      (message.tool_calls ?? []).map(({ function: { name, arguments: input } }) => ({ name, input })),
    ),
    finish: lines.at(-1)?.done_reason,
  };
}

/** The conversation with all that the lines of the last answer brought: what they hold beside text is in them only. */
function goOn(lines: readonly ChatResponse[]): Message[] {
  const { text, thoughts = '' } = heard(lines);
  const calls = lines.flatMap(({ message }) => message.tool_calls ?? []);
  const said: Message = Object.assign({}, ...lines.map(({ message }) => message), {
    content: text,
    ...(thoughts === '' ? {} : { thinking: thoughts }),
    tool_calls: calls,
  });
  const results = calls.map(
    ({ function: { name } }): Message => ({ role: 'tool', tool_name: name, content: resultOf(name) }),
  );
  return [...ASK, said, ...results];
}
