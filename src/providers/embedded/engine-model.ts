import {
  type ChatWrapper,
  type Llama,
  LlamaChat,
  type LlamaGrammar,
  resolveChatWrapper,
  type Token,
} from 'node-llama-cpp';
import { SluiceError } from '../../core/errors.ts';
import { openLlama } from './engine-llama.ts';
import { generate, type TaskEvents } from './generate.ts';
import { fitPrompt } from './prompt.ts';
import type { EngineSettings, Outcome, Task } from './protocol.ts';

/** A loaded model. Runs inside the engine. */
export interface EngineModel {
  /** Tokens of prompt and answer together. */
  readonly contextLength: number;
  /** Generates one answer, at most `EngineSettings.parallel` at a time. Rejects with a `SluiceError` for what the client did wrong. */
  run(task: Task, signal: AbortSignal, events: TaskEvents): Promise<Outcome>;
}

/** Tokens read in one step, of all tasks together; it sizes a buffer, and more than two prompt slices never meet. */
const BATCH_SIZE = 128;

/** Rejects when the file is no model, of an unknown kind, or too large for the machine's memory. */
export async function loadEngineModel(settings: EngineSettings): Promise<EngineModel> {
  const { threads, parallel } = settings;
  const llama = await openLlama(threads);
  const model = await llama.loadModel({ modelPath: settings.modelPath });
  const context = await model.createContext({
    sequences: parallel,
    contextSize: Math.min(settings.contextLimit, model.trainContextSize),
    threads,
    batchSize: BATCH_SIZE,
  });
  const chatWrapper = keepingBlanks(resolveChatWrapper(model));
  const free = Array.from(
    { length: parallel },
    () => new LlamaChat({ contextSequence: context.getSequence(), chatWrapper }),
  );
  const { contextSize: contextLength } = context;
  return {
    contextLength,
    async run(task, signal, events) {
      const limits = { contextLength, maxTokens: task.sampling.maxTokens };
      const prompt = fitPrompt(task.turns, model, chatWrapper, limits);
      if (prompt.leftOut > 0) {
        events.note(`The ${prompt.leftOut} oldest messages were left out: this model reads ${contextLength} tokens.`);
      }
      const grammar = await grammarOf(task, llama);
      const chat = takeBest(free, prompt.tokens);
      try {
        return await generate(chat, prompt, task, grammar, signal, events);
      } finally {
        free.push(chat);
      }
    },
  };
}

/** The library drops blanks where an answer begins; where the client began it, they stand in the middle of a text. */
function keepingBlanks(wrapper: ChatWrapper): ChatWrapper {
  const generateContextState = wrapper.generateContextState.bind(wrapper);
  wrapper.generateContextState = (options) => {
    const last = options.chatHistory.at(-1);
    const isBegun = last?.type === 'model' && last.response.some((part) => part !== '');
    const state = generateContextState(options);
    return isBegun ? Object.assign(state, { ignoreStartText: [] }) : state;
  };
  return wrapper;
}

async function grammarOf({ format }: Task, llama: Llama): Promise<LlamaGrammar | undefined> {
  if (format === undefined) return undefined;
  if (format.schema === undefined) return llama.getGrammarFor('json');
  try {
    // `toGrammarSchema` made it fit the library's type, which no JSON from another process can be proved to have.
    return await llama.createGrammarForJsonSchema(format.schema as Parameters<Llama['createGrammarForJsonSchema']>[0]);
  } catch (cause) {
    // For example a definition that is nothing but itself.
    throw new SluiceError('invalid_request', 'No grammar can be made of the schema of response_format.', { cause });
  }
}

/** Takes the one that still knows most of the prompt from an earlier turn, so that least has to be read again. */
function takeBest(free: LlamaChat[], tokens: Token[]): LlamaChat {
  const known = free.map((chat) => chat.sequence.compareContextTokens(tokens).firstDifferentIndex);
  const best = known.indexOf(Math.max(...known));
  const [chat] = free.splice(best, 1);
  if (chat === undefined) throw new Error('more tasks at a time than places');
  return chat;
}
