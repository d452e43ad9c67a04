import type { ChatRequest, Tool, ToolCall, ToolChoice } from '../core/chat.ts';
import { SluiceError } from '../core/errors.ts';
import { isObject, membersOf, objectsIn } from '../core/objects.ts';
import { toolCallId } from '../providers/openai/ids.ts';
import { asFunction, freeformText, isGrammar } from './freeform.ts';
import { lostOlderFields, type ToolFields, toolsOf } from './older-calls.ts';
import type { WireTool } from './wire.ts';

/** The tools that a model may call, and the choice among them. */
export function toOffered(fields: ToolFields): Pick<ChatRequest, 'tools' | 'toolChoice'> {
  const { tools: given, tool_choice: choice } = toolsOf(fields);
  const allowed = allowedBy(choice);
  const tools = (given ?? []).flatMap(toTool).filter(({ name }) => allowed?.names.has(name) ?? true);
  const toolChoice = toToolChoice(choice);
  return { ...(tools.length === 0 ? {} : { tools }), ...(toolChoice === undefined ? {} : { toolChoice }) };
}

/** What `toOffered` has no place for. Throws at a choice that is none of the tools. */
export function lostOfTools(fields: ToolFields, code: 'invalid_request' | 'invalid_field'): readonly string[] {
  const { tools: given, tool_choice: choice } = toolsOf(fields);
  const tools = given ?? [];
  if (typeof choice === 'string') refuseUnknown(choice, tools, code);
  const unknown = tools.filter((tool) => toTool(tool).length === 0);
  return [
    ...lostOlderFields(fields),
    ...unknown.map(({ type }) => `tools.${type ?? 'function'}`),
    ...(tools.some(({ custom }) => isGrammar(membersOf(custom)['format'])) ? ['tools.custom.format'] : []),
    ...(choice != null && toToolChoice(choice) === undefined ? ['tool_choice'] : []),
  ];
}

/** The names of freeform tools: calls of these are told as calls with a text. */
export function freeformNames(tools: ToolFields['tools']): ReadonlySet<string> {
  return new Set((tools ?? []).flatMap((tool) => (tool.function === undefined ? (freeformName(tool) ?? []) : [])));
}

/** A whole call as chats have it. */
export function wholeCall({ id, name, arguments: written }: ToolCall, freeform: ReadonlySet<string>) {
  const own = id === '' ? toolCallId() : id;
  return freeform.has(name)
    ? { id: own, type: 'custom', custom: { name, input: freeformText(written) } }
    : { id: own, type: 'function', function: { name, arguments: written } };
}

function toTool(tool: WireTool): Tool[] {
  if (tool.function === undefined) {
    const freeform = freeformName(tool);
    return freeform === undefined ? [] : [asFunction(freeform, membersOf(tool['custom']))];
  }
  const { name, description, parameters, strict } = tool.function;
  return [
    {
      name,
      ...(typeof description === 'string' ? { description } : {}),
      ...(parameters === null || parameters === undefined ? {} : { parameters }),
      ...(typeof strict === 'boolean' ? { strict } : {}),
    },
  ];
}

/** Of a freeform tool, or of the choice of one. */
function freeformName({ custom }: Readonly<Record<string, unknown>>): string | undefined {
  const { name } = membersOf(custom);
  return typeof name === 'string' ? name : undefined;
}

/** A tool may be chosen by its bare name, if there is one of that name. */
function refuseUnknown(choice: string, tools: readonly WireTool[], code: 'invalid_request' | 'invalid_field'): void {
  if (typeof wordOf(choice) === 'string' || tools.flatMap(toTool).some(({ name }) => name === choice)) return;
  const text = "'tool_choice' must be auto, none, required or the name of one of the tools.";
  throw new SluiceError(code, text, { param: 'tool_choice' });
}

/** What a choice in one word means. `any` is Mistral's `required`. */
function wordOf(choice: string): ToolChoice {
  if (choice === 'auto' || choice === 'none' || choice === 'required') return choice;
  return choice === 'any' ? 'required' : { name: choice };
}

function toToolChoice(choice: ToolFields['tool_choice']): ToolChoice | undefined {
  if (choice === null || choice === undefined) return undefined;
  if (typeof choice === 'string') return wordOf(choice);
  const name = choice.function?.name ?? freeformName(choice);
  return name === undefined ? allowedBy(choice)?.choice : { name };
}

/** A list of the tools that may be called, which are all that is offered then: most upstreams know no such list. */
function allowedBy(
  choice: ToolFields['tool_choice'],
): { readonly names: ReadonlySet<unknown>; readonly choice: ToolChoice } | undefined {
  if (!isObject(choice) || choice['type'] !== 'allowed_tools') return undefined;
  // The Responses API has both beside the type, and clients mix them up.
  const { mode, tools } = isObject(choice['allowed_tools']) ? choice['allowed_tools'] : choice;
  const names = objectsIn(tools).map((tool) => membersOf(tool['function'] ?? tool['custom'] ?? tool)['name']);
  return { names: new Set(names), choice: mode === 'required' ? 'required' : 'auto' };
}
