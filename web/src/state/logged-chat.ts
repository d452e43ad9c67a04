/** One message of a logged request, whichever dialect it came in. */
export interface LoggedMessage {
  readonly role: string;
  readonly text: string;
  /** Pieces that are no text: pictures, sound, calls of tools. */
  readonly others: readonly string[];
}

/** The conversation in the body of a request of any dialect; empty where there is none. */
export function loggedChat(body: unknown): readonly LoggedMessage[] {
  const fields = toRecord(body);
  const system =
    fields['instructions'] ?? fields['system'] ?? fields['systemInstruction'] ?? fields['system_instruction'];
  const first = system === undefined || system === null ? [] : [toMessage('system', system)];
  return [...first.filter(({ text }) => text !== ''), ...messagesOf(fields)];
}

function messagesOf(fields: Readonly<Record<string, unknown>>): readonly LoggedMessage[] {
  const list = fields['messages'] ?? fields['contents'] ?? fields['input'];
  if (Array.isArray(list)) {
    return list.map((each: unknown) => {
      if (typeof each === 'string') return toMessage('user', each);
      const message = toRecord(each);
      const role = typeof message['role'] === 'string' ? message['role'] : String(message['type'] ?? 'user');
      const content = message['content'] ?? message['parts'] ?? message['output'] ?? message['arguments'];
      const { text, others } = toMessage(role, content);
      const calls = Array.isArray(message['tool_calls']) ? message['tool_calls'] : [];
      return { role: role === 'model' ? 'assistant' : role, text, others: [...others, ...calls.map(nameOfCall)] };
    });
  }
  const single = list ?? fields['prompt'];
  return typeof single === 'string' ? [toMessage('user', single)] : [];
}

function toMessage(role: string, content: unknown): LoggedMessage {
  if (typeof content === 'string') return { role, text: content, others: [] };
  const parts = Array.isArray(content) ? content : (toRecord(content)['parts'] ?? [content]);
  const texts: string[] = [];
  const others: string[] = [];
  for (const part of Array.isArray(parts) ? (parts as readonly unknown[]) : []) {
    const fields = toRecord(part);
    if (typeof part === 'string') texts.push(part);
    else if (typeof fields['text'] === 'string') texts.push(fields['text']);
    else if (typeof fields['type'] === 'string') others.push(fields['type']);
    else others.push(...Object.keys(fields).slice(0, 1));
  }
  return { role, text: texts.join('\n\n'), others };
}

function nameOfCall(call: unknown): string {
  const name = toRecord(toRecord(call)['function'])['name'];
  return typeof name === 'string' ? `${name}()` : 'tool_call';
}

/** A value to look for members in; an empty one for what is no object. */
export function toRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}
