import { isObject } from '../core/objects.ts';
import type { WireChatFields, WireMessage } from './wire.ts';

/** The fields of OpenAI's chat completions about functions, before there were tools. */
export type ToolFields = Pick<WireChatFields, 'tools' | 'tool_choice' | 'functions' | 'function_call'>;

/** Whether a client offers functions in their older form alone: it looks for calls in that form, too. */
export function hasOlderForm({ tools, functions }: ToolFields): boolean {
  return (tools ?? []).length === 0 && (functions ?? []).length > 0;
}

/** Fields of the older form that are passed over, since there are tools. */
export function lostOlderFields(fields: ToolFields): readonly string[] {
  if ((fields.tools ?? []).length === 0) return [];
  const { functions, function_call: choice } = fields;
  return [...((functions ?? []).length > 0 ? ['functions'] : []), ...(choice == null ? [] : ['function_call'])];
}

/** The tools of a request and the choice among them, whatever form they came in. */
export function toolsOf(fields: ToolFields): Pick<ToolFields, 'tools' | 'tool_choice'> {
  const { tools, tool_choice, functions, function_call: choice } = fields;
  if (!hasOlderForm(fields)) return { tools, tool_choice };
  const chosen = isObject(choice) ? { type: 'function', function: { name: choice.name } } : choice;
  return {
    tools: functions?.map((each) => ({ type: 'function', function: each })),
    tool_choice: tool_choice ?? chosen,
  };
}

/** Calls in their older form, `function_call` and a result under the function's name, as what has become of them. */
export function withToolCalls(messages: readonly WireMessage[]): readonly WireMessage[] {
  if (!messages.some((message) => isObject(message['function_call']))) return messages;
  const ids = new Map<unknown, string>();
  return messages.map((message, index) => {
    const { role, name, tool_call_id: ownId, tool_calls: calls } = message;
    const id = role === 'function' && ownId == null ? ids.get(name) : undefined;
    if (id !== undefined) return { ...message, tool_call_id: id };
    const called = message['function_call'];
    if (role !== 'assistant' || !isObject(called) || typeof called['name'] !== 'string') return message;
    const written = typeof called['arguments'] === 'string' ? called['arguments'] : '';
    ids.set(called['name'], `call_${index}`);
    const call = { id: `call_${index}`, function: { name: called['name'], arguments: written } };
    return { ...message, tool_calls: [...(calls ?? []), call] };
  });
}
