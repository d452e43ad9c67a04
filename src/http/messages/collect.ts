import { toolInput } from '../../core/call-pieces.ts';
import type { Batch } from '../../core/chunk.ts';
import { type MessageHead, MessageStream } from './encode.ts';

type Json = Record<string, unknown>;

/** A whole answer: the fold of its events, so that both ways to answer say the same. Throws what the chunks throw. */
export async function collectMessage(chunks: AsyncIterable<Batch>, head: MessageHead): Promise<Json> {
  const stream = new MessageStream(head);
  const content: Json[] = [];
  const inputs = new Map<number, string>();
  let message: Json = {};
  for await (const batch of chunks) {
    for (const event of stream.events(batch)) {
      const index = event.index ?? -1;
      const block = content[index];
      switch (event.type) {
        case 'message_start':
          message = event['message'] as Json;
          break;
        case 'content_block_start':
          content[index] = { ...(event['content_block'] as Json) };
          break;
        case 'content_block_delta':
          if (block !== undefined) grow(block, event['delta'] as Json, inputs, index);
          break;
        case 'message_delta': {
          const { delta, usage, type: _, ...further } = event;
          message = {
            ...message,
            ...(delta as Json),
            ...further,
            usage: { ...(message['usage'] as Json), ...(usage as Json) },
          };
          break;
        }
      }
    }
  }
  for (const [index, json] of inputs) {
    const block = content[index];
    if (block !== undefined) block['input'] = toolInput(json);
  }
  return { ...message, content };
}

function grow(block: Json, delta: Json, inputs: Map<number, string>, index: number): void {
  switch (delta['type']) {
    case 'text_delta':
      block['text'] = String(block['text']) + String(delta['text']);
      break;
    case 'thinking_delta':
      block['thinking'] = String(block['thinking']) + String(delta['thinking']);
      break;
    case 'signature_delta':
      block['signature'] = delta['signature'];
      break;
    case 'citations_delta':
      block['citations'] = [...((block['citations'] as unknown[] | undefined) ?? []), delta['citation']];
      break;
    case 'input_json_delta':
      inputs.set(index, (inputs.get(index) ?? '') + String(delta['partial_json']));
      break;
  }
}
