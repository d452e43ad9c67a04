import {
  type ChatRequest,
  type ResponseFormat,
  type Sampling,
  THINKING_BUDGET,
  type Tool,
  type ToolChoice,
} from '../../core/chat.ts';
import { present } from '../../core/objects.ts';
import { toJsonSchema } from './schema.ts';
import type { GenerateContentBody, WireFunction, WireGenerationConfig, WireTool } from './wire.ts';

/** Everything of a request that is neither where it goes nor what it says. */
export interface Settings
  extends Pick<ChatRequest, 'sampling' | 'tools' | 'toolChoice' | 'responseFormat' | 'aspectRatio'> {
  /** The paths of the fields that only Google understands. */
  readonly foreign: readonly string[];
}

/** The members of `generationConfig` that have a place in the middle. */
const KNOWN: ReadonlySet<string> = new Set([
  'temperature',
  'topP',
  'topK',
  'maxOutputTokens',
  'candidateCount',
  'stopSequences',
  'seed',
  'presencePenalty',
  'frequencyPenalty',
  'responseMimeType',
  'responseSchema',
  'responseJsonSchema',
  'thinkingConfig',
]);

/** What is asked for beside the contents; `foreign` are the paths of what only Google understands. */
export function toSettings(body: GenerateContentBody): Settings {
  const config = body.generationConfig ?? {};
  const foreign: string[] = [];
  const wanted = list(body.tools);
  const tools = toTools(wanted, body.toolConfig?.functionCallingConfig?.mode, foreign);
  for (const tool of wanted) {
    for (const name of Object.keys(tool)) if (name !== 'functionDeclarations') foreign.push(`tools.${name}`);
  }
  for (const [name, value] of Object.entries(config)) {
    if (!KNOWN.has(name) && value !== null && !asksForText(name, value)) foreign.push(`generationConfig.${name}`);
  }
  for (const name of Object.keys(body.toolConfig ?? {})) {
    if (name !== 'functionCallingConfig') foreign.push(`toolConfig.${name}`);
  }
  const { functionCallingConfig: calling } = body.toolConfig ?? {};
  foreign.push(...namesIn(calling, 'toolConfig.functionCallingConfig', CALLING_FIELDS));
  foreign.push(...namesIn(config.thinkingConfig, 'generationConfig.thinkingConfig', THINKING_FIELDS));
  const { thinkingBudget } = config.thinkingConfig ?? {};
  // Efforts are steps, so the very number is lost on those that know nothing else.
  if ((thinkingBudget ?? 0) > 0) foreign.push(THINKING_BUDGET);
  const responseFormat = toResponseFormat(config, foreign);
  const { aspectRatio } = (config['imageConfig'] ?? {}) as { aspectRatio?: unknown };
  return {
    sampling: toSampling(config),
    ...chosen(tools, body),
    ...(responseFormat === undefined ? {} : { responseFormat }),
    ...(typeof aspectRatio === 'string' ? { aspectRatio } : {}),
    foreign,
  };
}

const CALLING_FIELDS: ReadonlySet<string> = new Set(['mode', 'allowedFunctionNames']);
const THINKING_FIELDS: ReadonlySet<string> = new Set(['includeThoughts', 'thinkingBudget', 'thinkingLevel']);

/** Paths of the members that only Google understands. */
function namesIn(holder: object | null | undefined, path: string, known: ReadonlySet<string>): readonly string[] {
  const said = Object.entries(holder ?? {}).filter(([name, value]) => !known.has(name) && value !== null);
  return said.map(([name]) => `${path}.${name}`);
}

/** Text is what is answered anyway. */
function asksForText(name: string, value: unknown): boolean {
  if (name !== 'responseModalities' || !Array.isArray(value)) return false;
  // Not all that a client may write here can be made a text.
  return value.every((each) => typeof each === 'string' && each.toLowerCase() === 'text');
}

function toSampling(config: WireGenerationConfig): Sampling {
  return present({
    temperature: config.temperature,
    topP: config.topP,
    topK: config.topK,
    maxTokens: config.maxOutputTokens,
    stop: config.stopSequences,
    seed: config.seed,
    presencePenalty: config.presencePenalty,
    frequencyPenalty: config.frequencyPenalty,
    reasoningEffort: toEffort(config.thinkingConfig),
    thinkingTokens:
      (config.thinkingConfig?.thinkingBudget ?? 0) > 0 ? config.thinkingConfig?.thinkingBudget : undefined,
  });
}

/** Tokens of thoughts up to which an effort is called low or medium. */
const LOW_TOKENS = 4_096;
const MEDIUM_TOKENS = 16_384;

/** A level is an effort; a budget of tokens becomes the nearest one. -1 leaves the choice to the model. */
function toEffort(thinking: WireGenerationConfig['thinkingConfig']): string | undefined {
  const { thinkingLevel: level, thinkingBudget: budget } = thinking ?? {};
  if (level && level !== 'THINKING_LEVEL_UNSPECIFIED') return level.toLowerCase();
  if (budget === undefined || budget === null || budget < 0) return undefined;
  if (budget === 0) return 'none';
  return budget <= LOW_TOKENS ? 'low' : budget <= MEDIUM_TOKENS ? 'medium' : 'high';
}

function toTools(tools: readonly WireTool[], mode: string | null | undefined, foreign: string[]): readonly Tool[] {
  const functions = tools.flatMap((tool) => tool.functionDeclarations ?? []);
  for (const name of new Set(functions.flatMap((each) => Object.keys(each)))) {
    if (!FUNCTION_FIELDS.has(name)) foreign.push(`tools.functionDeclarations.${name}`);
  }
  return functions.map((each) => toTool(each, mode === 'VALIDATED'));
}

const FUNCTION_FIELDS: ReadonlySet<string> = new Set(['name', 'description', 'parameters', 'parametersJsonSchema']);

function toTool({ name, description, parameters, parametersJsonSchema }: WireFunction, isStrict: boolean): Tool {
  const schema = parametersJsonSchema ?? (parameters == null ? undefined : toJsonSchema(parameters));
  return {
    name,
    ...(typeof description === 'string' && description !== '' ? { description } : {}),
    ...(schema === undefined ? {} : { parameters: schema }),
    ...(isStrict ? { strict: true } : {}),
  };
}

/** The tools and which of them shall be called. Where only some are allowed, those are all that is offered. */
function chosen(
  tools: readonly Tool[],
  body: GenerateContentBody,
): { tools?: readonly Tool[]; toolChoice?: ToolChoice } {
  if (tools.length === 0) return {};
  const { mode, allowedFunctionNames } = body.toolConfig?.functionCallingConfig ?? {};
  const allowed = new Set(allowedFunctionNames ?? []);
  const [only] = allowed;
  switch (mode) {
    case 'NONE':
      return { tools, toolChoice: 'none' };
    case 'ANY':
      if (only === undefined) return { tools, toolChoice: 'required' };
      if (allowed.size === 1) return { tools, toolChoice: { name: only } };
      return { tools: tools.filter(({ name }) => allowed.has(name)), toolChoice: 'required' };
    case 'AUTO':
    case 'VALIDATED':
      return {
        tools: only === undefined ? tools : tools.filter(({ name }) => allowed.has(name)),
        toolChoice: 'auto',
      };
    default:
      return { tools };
  }
}

function toResponseFormat(config: WireGenerationConfig, foreign: string[]): ResponseFormat | undefined {
  const { responseMimeType: type, responseSchema, responseJsonSchema } = config;
  if (type == null || type === 'text/plain') return undefined;
  if (type !== 'application/json') {
    foreign.push('generationConfig.responseMimeType');
    if (responseSchema != null) foreign.push('generationConfig.responseSchema');
    return undefined;
  }
  const schema = responseJsonSchema ?? (responseSchema == null ? undefined : toJsonSchema(responseSchema));
  return schema === undefined ? { type: 'json_object' } : { type: 'json_schema', name: 'response', schema };
}

function list(tools: GenerateContentBody['tools']): readonly WireTool[] {
  if (tools === null || tools === undefined) return [];
  return Array.isArray(tools) ? tools : [tools];
}
