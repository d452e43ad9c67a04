import type {
  JSONObject,
  JSONSchema7,
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4Prompt,
  LanguageModelV4ToolChoice,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider';
import type { ChatRequest, ResponseFormat, Tool, ToolChoice } from '../../core/chat.ts';
import { defined, isObject } from '../../core/objects.ts';

/** A request → the libraries' call options. What a vendor does not know, its library leaves out with a warning. */
export function toCallOptions(
  request: ChatRequest,
  prompt: LanguageModelV4Prompt,
  vendorOptions: SharedV4ProviderOptions,
  abortSignal: AbortSignal,
): LanguageModelV4CallOptions {
  const { sampling } = request;
  const tools = request.tools?.length ? request.tools.map(toFunctionTool) : undefined;
  return {
    prompt,
    abortSignal,
    ...defined({
      temperature: sampling.temperature,
      topP: sampling.topP,
      topK: sampling.topK,
      maxOutputTokens: sampling.maxTokens,
      stopSequences: sampling.stop?.length ? [...sampling.stop] : undefined,
      seed: sampling.seed,
      presencePenalty: sampling.presencePenalty,
      frequencyPenalty: sampling.frequencyPenalty,
      reasoning: effort(sampling.reasoningEffort),
      tools,
      toolChoice:
        tools === undefined || request.toolChoice === undefined ? undefined : toToolChoice(request.toolChoice),
      responseFormat: toResponseFormat(request.responseFormat),
    }),
    providerOptions: merge(vendorOptions, request.extra['providerOptions']),
  };
}

function toFunctionTool(tool: Tool): LanguageModelV4FunctionTool {
  return {
    type: 'function',
    name: tool.name,
    // Vendors refuse schemas that do not say they are objects, and nothing else: some clients leave it out, or write `null` beside it.
    inputSchema: {
      ...tool.parameters,
      type: 'object',
      properties: tool.parameters?.['properties'] ?? {},
    } as JSONSchema7,
    ...defined({
      description: tool.description,
      strict: tool.strict,
      // The values are the vendor's own JSON.
      providerOptions: tool.vendor as SharedV4ProviderOptions | undefined,
    }),
  };
}

function toToolChoice(choice: ToolChoice): LanguageModelV4ToolChoice {
  return typeof choice === 'string' ? { type: choice } : { type: 'tool', toolName: choice.name };
}

function toResponseFormat(format: ResponseFormat | undefined): LanguageModelV4CallOptions['responseFormat'] {
  if (format === undefined || format.type === 'text') return undefined;
  if (format.type === 'json_object') return { type: 'json' };
  return {
    type: 'json',
    name: format.name,
    ...defined({ schema: format.schema as JSONSchema7 | undefined, description: format.description }),
  };
}

type Effort = NonNullable<LanguageModelV4CallOptions['reasoning']>;

const EFFORTS: Readonly<Record<string, Effort>> = {
  none: 'none',
  minimal: 'minimal',
  low: 'low',
  medium: 'medium',
  high: 'high',
  xhigh: 'xhigh',
  max: 'max',
};

/** Words that nobody knows are left to the provider's default (`lostEffort`). */
function effort(word: string | undefined): Effort | undefined {
  return word !== undefined && Object.hasOwn(EFFORTS, word) ? EFFORTS[word] : undefined;
}

/** An effort in a word that no library knows. */
export function lostEffort({ sampling: { reasoningEffort: word } }: ChatRequest): readonly string[] {
  return word === undefined || effort(word) !== undefined ? [] : ['reasoning_effort'];
}

/** A client's own `providerOptions` (by vendor, then by name) go over ours. */
function merge(ours: SharedV4ProviderOptions, theirs: unknown): SharedV4ProviderOptions {
  const merged = new Map(Object.entries(ours));
  for (const [vendor, options] of isObject(theirs) ? Object.entries(theirs) : []) {
    if (isObject(options)) merged.set(vendor, { ...merged.get(vendor), ...(options as JSONObject) });
  }
  return Object.fromEntries(merged);
}
