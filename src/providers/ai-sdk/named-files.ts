import type { ChatRequest, Part } from '../../core/chat.ts';

/** Names of files as words before them, for a vendor whose API has no place for names: of several files, a model could not tell which is which. */
export function withNamedFiles(request: ChatRequest): ChatRequest {
  const isNamed = request.messages.some(({ content }) => content.some((part) => nameOf(part) !== undefined));
  if (!isNamed) return request;
  return { ...request, messages: request.messages.map((each) => ({ ...each, content: each.content.flatMap(named) })) };
}

function named(part: Part): readonly Part[] {
  const name = nameOf(part);
  return name === undefined ? [part] : [{ type: 'text', text: `${name}:` }, part];
}

function nameOf(part: Part): string | undefined {
  return part.type === 'media' && part.kind === 'file' && part.name?.trim() !== '' ? part.name : undefined;
}
