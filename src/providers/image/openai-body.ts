import type { ImageRequest } from '../../core/image.ts';
import { isPixels } from '../../core/image-fields.ts';
import { editObject } from '../../core/json.ts';
import { wordsOf } from '../../core/objects.ts';

/** OpenAI's own models, which refuse what they do not know. */
const OF_OPENAI = /(?:^|\/)(?:gpt-image|chatgpt-image|dall-e)/;
/** They answer in base64 only, and refuse to be asked about it. */
const WITHOUT_FORMAT = /(?:^|\/)(?:gpt-image|chatgpt-image)/;
/** The fields of OpenAI's images API, pictures aside. */
const KNOWN: ReadonlySet<string> = new Set([
  ...['prompt', 'model', 'n', 'size', 'quality', 'style', 'background', 'moderation', 'user', 'safety_identifier'],
  ...['output_format', 'output_compression', 'response_format', 'stream', 'partial_images', 'input_fidelity'],
  ...['complexity', 'frame_count', 'frame_duration_ms', 'svg'],
]);
/** Pictures of the request, which go as parts of a form. */
const PICTURES: ReadonlySet<string> = new Set(['image', 'images', 'image[]', 'mask']);

/** What may stand as a size: pixels, or the words of upstreams (`auto`, `2K`). */
function isSize(value: unknown): boolean {
  const word = wordsOf(value);
  const [, width, height] = /^(\d{1,5})\s*[x*]\s*(\d{1,5})$/i.exec(word) ?? [];
  if (width === undefined) return /^(auto|\d+(\.\d+)?k)$/i.test(word);
  return isPixels(Number(width)) && isPixels(Number(height));
}

/** The fields that an upstream gets, without its pictures. */
export function toFields(request: ImageRequest, without: ReadonlySet<string>): ReadonlyMap<string, unknown> {
  const { model, fields, prompt, task } = request;
  const isOfOpenAi = OF_OPENAI.test(model);
  const names = Object.keys(fields).filter(
    (name) =>
      !without.has(name) &&
      !(task !== 'generate' && PICTURES.has(name)) &&
      !(isOfOpenAi && !KNOWN.has(name)) &&
      !(name === 'response_format' && WITHOUT_FORMAT.test(model)) &&
      !(name === 'size' && !isSize(fields[name])),
  );
  const found = new Map<string, unknown>(names.map((name) => [name, fields[name]]));
  found.set('model', model);
  if (task === 'variation') found.delete('prompt');
  else found.set('prompt', prompt);
  const size = found.has('size') ? undefined : sizeOf(request, isOfOpenAi);
  if (size !== undefined) found.set('size', size);
  return found;
}

/** The body in JSON: the client's own where it sent one, with the members that have to differ replaced. */
export function toBody({ sent, fields }: ImageRequest, wanted: ReadonlyMap<string, unknown>): Buffer {
  if (sent === undefined) return Buffer.from(JSON.stringify(Object.fromEntries(wanted)));
  const edits = new Map<string, string | undefined>();
  for (const { name } of sent.members) if (!wanted.has(name)) edits.set(name, undefined);
  for (const [name, value] of wanted) if (fields[name] !== value) edits.set(name, JSON.stringify(value));
  return editObject(sent.bytes, sent.members, edits);
}

/** A size where the client gave none in these words: of its width and height, or of its ratio among those that OpenAI knows. */
function sizeOf({ size, aspectRatio, model }: ImageRequest, isOfOpenAi: boolean): string | undefined {
  if (size !== undefined) return `${size.width}x${size.height}`;
  const [x = 0, y = 0] = (aspectRatio ?? '').split(':').map(Number);
  if (!isOfOpenAi || !(x > 0 && y > 0) || /dall-e-2/.test(model)) return undefined;
  const long = /dall-e-3/.test(model) ? '1792' : '1536';
  if (x === y) return '1024x1024';
  return x > y ? `${long}x1024` : `1024x${long}`;
}
