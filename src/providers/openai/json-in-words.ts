import type { ChatRequest, Message, ResponseFormat } from '../../core/chat.ts';
import type { Service } from './services.ts';

type JsonSchema = Extract<ResponseFormat, { readonly type: 'json_schema' }>;

/**
 * A request that says in words what its upstream wants to read there of an answer in JSON: the schema, where the service takes none;
 * and that it is JSON at all, without which many refuse `json_object`. Whoever writes one of OpenAI's formats knows the latter.
 * `drop` hears that a schema is no longer strict.
 */
export function withJsonInWords(
  request: ChatRequest,
  { takesNoSchemas }: Service,
  drop: (field: string) => void,
): ChatRequest {
  const { responseFormat, format = 'openai', messages } = request;
  const writesOpenAi = format === 'openai' || format === 'responses';
  if (responseFormat?.type === 'json_schema' && takesNoSchemas === true) {
    // Nobody else asks for it: to other formats it is a habit of ours.
    if (writesOpenAi && responseFormat.strict === true) drop('response_format.strict');
    const said = withInstruction(messages, schemaInWords(responseFormat));
    return { ...request, responseFormat: { type: 'json_object' }, messages: said };
  }
  if (responseFormat?.type !== 'json_object' || writesOpenAi || messages.some(saysJson)) return request;
  return { ...request, messages: withInstruction(messages, 'Answer in JSON.') };
}

function schemaInWords({ schema, description }: JsonSchema): string {
  const about = description === undefined ? '' : `\nIt is: ${description}`;
  if (schema === undefined) return `Answer with nothing but JSON.${about}`;
  return `Answer with nothing but JSON that this JSON Schema describes:\n${JSON.stringify(schema)}${about}`;
}

function saysJson({ content }: Message): boolean {
  return content.some((part) => part.type === 'text' && /json/i.test(part.text));
}

/** Within the instructions that begin the chat, since some take no others; as such where there are none. */
function withInstruction(messages: readonly Message[], text: string): readonly Message[] {
  const [first, ...rest] = messages;
  if (first?.role !== 'system' && first?.role !== 'developer')
    return [{ role: 'system', content: [{ type: 'text', text }] }, ...messages];
  const [part, ...others] = first.content;
  const said = part?.type === 'text' ? [{ ...part, text: `${part.text}\n\n${text}` }, ...others] : [...first.content];
  if (part?.type !== 'text') said.push({ type: 'text', text });
  return [{ ...first, content: said }, ...rest];
}
