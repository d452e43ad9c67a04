import type { Call } from '../../core/call.ts';
import type { Usage } from '../../core/chunk.ts';
import { base64Of, dataUri, isDataUri } from '../../core/data-uri.ts';
import { SluiceError } from '../../core/errors.ts';
import type { ImageAnswer, ImageWatcher, MadeImage } from '../../core/image.ts';
import { membersOf, parseJson, wordsOf } from '../../core/objects.ts';
import { kindOf } from '../../media/kind.ts';
import type { Body } from '../../outbound/body.ts';
import { EventReader } from '../openai/events.ts';
import { failureInAnswer } from '../openai/failure.ts';

/** What is said anew for the client, whoever says it. */
const OURS: ReadonlySet<string> = new Set(['data', 'images', 'model', 'provider', 'type', 'b64_json', 'url']);

/** A whole answer of OpenAI's images API, or of one of its many relatives. */
export function readAnswer(bytes: Buffer, origin: string): ImageAnswer {
  const json = parseJson(bytes.toString('utf8'));
  if (json === undefined) throw new SluiceError('upstream_invalid', "The provider's answer is not valid JSON.");
  const answer = membersOf(json);
  const failure = failureInAnswer(answer);
  if (failure !== undefined) throw failure;
  const list = [answer['data'], answer['images']].find(Array.isArray) ?? [];
  return { images: list.flatMap((item) => toImage(item, origin)), ...aboutOf(answer) };
}

/** Its answer as events: unfinished pictures, and then the finished ones. */
export async function readEvents(
  start: Buffer,
  body: Body,
  limit: number,
  watcher: ImageWatcher,
  call: Call,
): Promise<ImageAnswer> {
  const reader = new EventReader(limit);
  const images: MadeImage[] = [];
  let about: Partial<ImageAnswer> = {};
  const take = (data: string): void => {
    if (data === '[DONE]') return;
    const event = parsed(data);
    const failure = failureInAnswer(event) ?? failureOf(event);
    if (failure !== undefined) throw failure;
    const type = wordsOf(event['type']);
    const [image] = toImage(event);
    if (image === undefined) return;
    if (type.endsWith('.partial_image')) {
      const index = event['partial_image_index'];
      watcher.partial(image, typeof index === 'number' ? index : 0);
    } else if (type.endsWith('.completed')) {
      images.push(image);
      about = aboutOf(event);
    }
  };
  try {
    for (const data of reader.push(start)) take(data);
    for await (const bytes of body) {
      watcher.alive();
      for (const data of reader.push(bytes)) take(data);
    }
    for (const data of reader.end()) take(data);
  } finally {
    void body.return();
  }
  if (images.length > 0) return { images, ...about };
  throw (
    call.cancelled ?? new SluiceError('upstream_cut', 'The provider ended its answer before the picture was there.')
  );
}

function parsed(data: string): Readonly<Record<string, unknown>> {
  const event = parseJson(data);
  if (event === undefined) throw new SluiceError('upstream_invalid', 'The provider sent an event that is not JSON.');
  return membersOf(event);
}

function failureOf({ type, message }: Readonly<Record<string, unknown>>): SluiceError | undefined {
  if (type !== 'error') return undefined;
  return new SluiceError(
    'provider_failed',
    typeof message === 'string' ? message.slice(0, 2_000) : 'The provider failed.',
  );
}

function toImage(item: unknown, origin?: string): MadeImage[] {
  const { b64_json: data, url, revised_prompt: said } = membersOf(item);
  const revised = typeof said === 'string' && said !== '' ? { revisedPrompt: said } : {};
  if (typeof data === 'string' && data !== '') return [{ ...inline(data), ...revised }];
  const address = typeof url === 'string' ? addressOf(url, origin) : undefined;
  return address === undefined
    ? []
    : [{ kind: /\.(mp4|webm|mov)(\?|$)/i.test(address) ? 'video' : 'image', url: address, ...revised }];
}

/** Base64 as a `data:` URI; its first bytes say what it is. */
function inline(data: string): MadeImage {
  const base64 = base64Of(data) ?? data;
  const { kind, mimeType = 'image/png' } = kindOf(Buffer.from(base64.slice(0, 1_024), 'base64')) ?? {};
  return { kind: kind === 'video' ? kind : 'image', url: dataUri(mimeType, base64), mimeType };
}

function addressOf(url: string, origin: string | undefined): string | undefined {
  if (isDataUri(url)) return url;
  try {
    const { protocol, href } = new URL(url, origin);
    return protocol === 'http:' || protocol === 'https:' ? href : undefined;
  } catch {
    return undefined;
  }
}

function aboutOf(answer: Readonly<Record<string, unknown>>): Pick<ImageAnswer, 'about' | 'usage'> {
  const about = Object.fromEntries(
    Object.entries(answer)
      .filter(([name]) => !OURS.has(name))
      .map(([name, value]) => (name === 'created_at' ? ['created', value] : [name, value])),
  );
  const usage = usageOf(answer['usage']);
  return { about, ...(usage === undefined ? {} : { usage }) };
}

function usageOf(usage: unknown): Usage | undefined {
  const { input_tokens: input, output_tokens: output, prompt_tokens, completion_tokens } = membersOf(usage);
  const prompt = input ?? prompt_tokens;
  const completion = output ?? completion_tokens;
  if (typeof prompt !== 'number' || typeof completion !== 'number') return undefined;
  return { promptTokens: prompt, completionTokens: completion, totalTokens: prompt + completion };
}
