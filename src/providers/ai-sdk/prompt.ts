import type {
  LanguageModelV4FilePart,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4ReasoningPart,
  LanguageModelV4TextPart,
  LanguageModelV4ToolCallPart,
  LanguageModelV4ToolResultPart,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider';
import { toolInput } from '../../core/call-pieces.ts';
import type { MediaPart, Message, Part, TextPart, ToolCall, VendorData } from '../../core/chat.ts';
import { isDataUri } from '../../core/data-uri.ts';
import { type SupportedUrls, toFilePart } from './media.ts';
import type { SignedThought } from './thoughts.ts';

/** What a prompt depends on beside its messages. `recall`: what a vendor signed with that call. */
export interface PromptContext {
  readonly label: string;
  readonly supportedUrls: SupportedUrls;
  recall(callId: string): SignedThought | undefined;
}

type Said = LanguageModelV4TextPart | LanguageModelV4FilePart | LanguageModelV4ReasoningPart;
type Of<Role> = Extract<Message, { role: Role }>;
type ContentOf<Role> = Extract<LanguageModelV4Message, { role: Role }>['content'];

/**
 * In the place of a user's message that is nothing but white space, which vendors refuse. Without it the answer before would be the
 * last word, for the model to go on with.
 */
const BLANK = '(a blank message)';

/**
 * Messages → the libraries' prompt. System messages come first, as one unless parts of them are marked: most vendors know no others. Messages of one
 * role in a row become one, and what is empty is left out, since vendors refuse both.
 */
export function toPrompt(messages: readonly Message[], context: PromptContext): LanguageModelV4Prompt {
  const system: TextPart[] = [];
  const prompt: LanguageModelV4Prompt = [];
  const called = new CalledTools();
  for (const [index, message] of messages.entries()) {
    switch (message.role) {
      case 'system':
      case 'developer':
        system.push(...spokenTexts(message.content));
        break;
      case 'user':
        append(prompt, 'user', userContent(message.content, context));
        if (lacksTurn(message, prompt, messages[index + 1])) append(prompt, 'user', [{ type: 'text', text: BLANK }]);
        break;
      case 'assistant':
        called.add(message.toolCalls ?? []);
        append(prompt, 'assistant', assistantContent(message, context));
        break;
      case 'tool':
        append(prompt, 'tool', [toolResult(message, called.nameFor(message.toolCallId), context)]);
        break;
    }
  }
  if (system.length === 0) return prompt;
  const instructions = system.map((part) => part.text).join('\n\n');
  // Instructions alone are a question: vendors want at least one message.
  if (prompt.length === 0) return [{ role: 'user', content: [{ type: 'text', text: instructions }] }];
  if (system.every((part) => part.vendor === undefined)) return [{ role: 'system', content: instructions }, ...prompt];
  return [
    ...system.map((part) => ({ role: 'system', content: part.text, ...marked(part.vendor) }) as const),
    ...prompt,
  ];
}

/** The tools whose results may follow. Gemini finds the call of a result by their name. */
class CalledTools {
  /** Names by id: some clients give the same id to all calls of a turn, whose results come in their order then. */
  readonly #names = new Map<string, string[]>();

  add(calls: readonly ToolCall[]): void {
    for (const { id } of calls) this.#names.set(id, []);
    for (const { id, name } of calls) this.#names.get(id)?.push(name);
  }

  nameFor(id: string): string {
    const [name = 'unknown', ...others] = this.#names.get(id) ?? [];
    if (others.length > 0) this.#names.set(id, others);
    return name;
  }
}

/** Whether nothing stands where the user's turn was. What is empty before all others is none: instructions alone are asked. */
function lacksTurn({ content }: Message, prompt: LanguageModelV4Prompt, next: Message | undefined): boolean {
  if (prompt.at(-1)?.role === 'user' || next?.role === 'user') return false;
  return content.length > 0 || prompt.length > 0;
}

function append<Role extends 'user' | 'assistant' | 'tool'>(
  prompt: LanguageModelV4Prompt,
  role: Role,
  content: ContentOf<Role>,
): void {
  if (content.length === 0) return;
  const last = prompt.at(-1);
  // The roles are equal, so the contents are of one kind; the compiler cannot see through the union.
  if (last?.role === role) (last.content as unknown[]).push(...content);
  else prompt.push({ role, content } as LanguageModelV4Message);
}

function userContent(
  parts: readonly Part[],
  context: PromptContext,
): (LanguageModelV4TextPart | LanguageModelV4FilePart)[] {
  return parts.flatMap((part): (LanguageModelV4TextPart | LanguageModelV4FilePart)[] => {
    if (part.type === 'text') return textParts(part);
    if (part.type === 'media') {
      return [{ ...toFilePart(part, context.supportedUrls, context.label), ...marked(detailed(part)) }];
    }
    return []; // buckets are text or media by now
  });
}

function assistantContent(message: Of<'assistant'>, context: PromptContext): ContentOf<'assistant'> {
  const calls = message.toolCalls ?? [];
  const isSigned = message.content.some((part) => part.type === 'reasoning' && part.vendor !== undefined);
  const recalled = isSigned ? undefined : recall(calls, context);
  const said = message.content.flatMap((part): Said[] => {
    if (part.type === 'text') return textParts(part);
    if (part.type === 'reasoning') {
      return recalled === undefined ? [{ type: 'reasoning', text: part.text, ...marked(part.vendor) }] : [];
    }
    // Media of an earlier answer is looked at again only when it is there: no vendor takes an address here.
    if (part.type === 'media' && isDataUri(part.url)) return [toFilePart(part, {}, context.label)];
    return [];
  });
  if (said.every((part) => part.type === 'reasoning') && calls.length === 0 && !isSigned) return [];
  return [...(recalled ?? []), ...said, ...calls.map((call) => toolCall(call, context))];
}

/** The signed thoughts that led to these calls, for clients that could not keep them. */
function recall(
  calls: readonly ToolCall[],
  context: PromptContext,
): readonly LanguageModelV4ReasoningPart[] | undefined {
  for (const call of calls) {
    const signed = context.recall(call.id)?.reasoning;
    if (signed !== undefined && signed.length > 0) return signed;
  }
  return undefined;
}

function toolCall(call: ToolCall, context: PromptContext): LanguageModelV4ToolCallPart {
  const providerOptions = marked(call.vendor).providerOptions ?? context.recall(call.id)?.callOptions;
  return {
    type: 'tool-call',
    toolCallId: call.id,
    toolName: call.name,
    input: toolInput(call.arguments),
    ...(providerOptions === undefined ? {} : { providerOptions }),
  };
}

function toolResult(message: Of<'tool'>, toolName: string, context: PromptContext): LanguageModelV4ToolResultPart {
  const result = {
    type: 'tool-result' as const,
    toolCallId: message.toolCallId,
    toolName,
    ...marked(message.vendor ?? markOf(message.content)),
  };
  if (message.content.every((part) => part.type !== 'media')) {
    const value = spokenTexts(message.content)
      .map((part) => part.text)
      .join('\n');
    return { ...result, output: { type: message.isError === true ? 'error-text' : 'text', value } };
  }
  // The library for Gemini makes a result of each text, but a call without one, or with two of them, is refused.
  const text = spokenTexts(message.content).map((part) => part.text);
  const said = { type: 'text' as const, text: text.length === 0 ? 'The tool returned this:' : text.join('\n') };
  const shown = message.content.filter((part) => part.type === 'media');
  const value = [said, ...userContent(shown, context)];
  return { ...result, output: { type: 'content', value } };
}

/** What marks the last of the parts that are marked: a cache ends with the result as a whole. */
function markOf(parts: readonly Part[]): VendorData | undefined {
  return parts.findLast(({ vendor }) => vendor?.['anthropic']?.['cacheControl'] !== undefined)?.vendor;
}

function textParts({ text, vendor }: TextPart): LanguageModelV4TextPart[] {
  return text.trim() === '' ? [] : [{ type: 'text', text, ...marked(vendor) }];
}

function spokenTexts(parts: readonly Part[]): TextPart[] {
  return parts.flatMap((part) => (part.type === 'text' && part.text.trim() !== '' ? [part] : []));
}

/** What is attached to a picture, and the detail in which it shall be seen, where OpenAI's library looks for it. */
function detailed({ vendor, detail }: MediaPart): VendorData | undefined {
  if (detail === undefined) return vendor;
  return { ...vendor, openai: { ...vendor?.['openai'], imageDetail: detail } };
}

/** What vendors attached, under the name that their libraries read. The values are the vendors' own JSON. */
function marked(vendor: VendorData | undefined): { providerOptions?: SharedV4ProviderOptions } {
  return vendor === undefined ? {} : { providerOptions: vendor as SharedV4ProviderOptions };
}
