import type { ChatRequest, Message } from '../core/chat.ts';
import type { Batch, Chunk } from '../core/chunk.ts';
import { PassedOn } from '../core/passed-on.ts';

/** Names of tools that most vendors take. */
const TAKEN = /^[\w-]{1,64}$/;

interface NamedTools {
  /** Under names that the vendor takes. */
  readonly request: ChatRequest;
  /** What the client calls the tool of that name. */
  ownName(name: string): string;
}

/** A request whose tools have names that its vendor takes: the very same where they all do. `reserved` is nobody's name there. */
export function withTakenToolNames(request: ChatRequest, form = TAKEN, reserved?: string): NamedTools {
  const names = namesIn(request);
  const refused = [...names].filter((name) => !form.test(name) || name === reserved);
  if (refused.length === 0) return { request, ownName: (name) => name };
  const taken = new Map<string, string>();
  const own = new Map<string, string>();
  for (const name of refused) {
    const free = freeName(name, (other) => names.has(other) || own.has(other));
    taken.set(name, free);
    own.set(free, name);
  }
  return { request: renamed(request, taken), ownName: (name) => own.get(name) ?? name };
}

function namesIn({ tools = [], messages }: ChatRequest): ReadonlySet<string> {
  const names = new Set(tools.map(({ name }) => name));
  for (const message of messages) {
    if (message.role === 'assistant') for (const { name } of message.toolCalls ?? []) names.add(name);
  }
  return names;
}

/** A name like this one that every vendor takes: Gemini wants a letter or `_` first. */
function freeName(name: string, isUsed: (name: string) => boolean): string {
  const plain = name.replace(/[^\w-]/g, '_').replace(/^(?![A-Za-z_])/, '_');
  let free = plain.slice(0, 64);
  for (let number = 2; isUsed(free); number++) free = `${plain.slice(0, 56)}_${number}`;
  return free;
}

function renamed(request: ChatRequest, taken: ReadonlyMap<string, string>): ChatRequest {
  const { tools, toolChoice, messages } = request;
  const rename = <Named extends { readonly name: string }>(named: Named): Named => ({
    ...named,
    name: taken.get(named.name) ?? named.name,
  });
  const withNames = (message: Message): Message =>
    message.role === 'assistant' && message.toolCalls !== undefined
      ? { ...message, toolCalls: message.toolCalls.map(rename) }
      : message;
  return {
    ...request,
    messages: messages.map(withNames),
    ...(tools === undefined ? {} : { tools: tools.map(rename) }),
    ...(typeof toolChoice === 'object' ? { toolChoice: rename(toolChoice) } : {}),
  };
}

/** An answer whose calls have the client's names again. */
export class WithOwnNames extends PassedOn {
  readonly #ownName: NamedTools['ownName'];

  constructor(source: AsyncIterator<Batch>, ownName: NamedTools['ownName']) {
    super(source);
    this.#ownName = ownName;
  }

  next(): Promise<IteratorResult<Batch>> {
    return this.source
      .next()
      .then((step) => (step.done === true ? step : { done: false, value: step.value.map(this.#own) }));
  }

  readonly #own = (chunk: Chunk): Chunk => {
    if (chunk.type !== 'tool_call' || chunk.tool_call.name === undefined) return chunk;
    return { ...chunk, tool_call: { ...chunk.tool_call, name: this.#ownName(chunk.tool_call.name) } };
  };
}
