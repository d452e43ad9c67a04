import type { ChatRequest } from '../../core/chat.ts';
import { Secrets } from '../../core/secrets.ts';
import type { ClientKeys } from '../../routing/credentials.ts';
import type { Target } from '../../routing/select.ts';

/** Characters of one text that are shown. */
const LONGEST_TEXT = 20_000;
/** Characters of inline media that are shown, after the type. */
const SHOWN_DATA = 24;
const INLINE = /(data:[\w.+-]+\/[\w.+-]+(?:;[\w.+-]+=[\w.+-]+)*;base64,)([A-Za-z0-9+/_-]{64,}=*)/gi;

/**
 * What a debug panel may see of a request as it went to a provider: the conversation and how it was to be answered. Inline
 * media are shortened. Headers, cookies and keys are no part of it; where a text holds one that we know, it is masked.
 */
export function shownRequest(
  request: ChatRequest,
  { provider, model }: Target,
  secrets: readonly Secrets[],
): Record<string, unknown> {
  const { messages, sampling, tools, toolChoice, parallelToolCalls, responseFormat } = request;
  const fields = {
    provider: provider.id,
    model,
    messages,
    sampling,
    tools,
    tool_choice: toolChoice,
    parallel_tool_calls: parallelToolCalls,
    response_format: responseFormat,
  };
  return shown(fields, secrets) as Record<string, unknown>;
}

/** Any JSON value with its texts masked and shortened; members that are undefined are left out. */
export function shown(value: unknown, secrets: readonly Secrets[]): unknown {
  if (typeof value === 'string') return secrets.reduce((text, each) => each.mask(text), shortened(value));
  if (Array.isArray(value)) return value.map((each) => shown(each, secrets));
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return Object.fromEntries(members.map(([name, member]) => [shown(name, secrets), shown(member, secrets)]));
}

function shortened(text: string): string {
  const short = text.replace(
    INLINE,
    (_, head: string, data: string) => `${head}${data.slice(0, SHOWN_DATA)}… (${data.length} characters)`,
  );
  return short.length > LONGEST_TEXT ? `${short.slice(0, LONGEST_TEXT).toWellFormed()}…` : short;
}

/** The keys that came with a request, which nobody else here knows. */
export function secretsOfClient({ apiKey, bearer }: ClientKeys): Secrets {
  const secrets = new Secrets();
  secrets.use([bearer, ...(typeof apiKey === 'object' ? apiKey.values() : [apiKey])]);
  return secrets;
}
