import type { CallScope } from '../../core/call.ts';
import { heldAsBase64, isDataUri } from '../../core/data-uri.ts';
import { SluiceError, toSluiceError } from '../../core/errors.ts';
import type { ImageAnswer, MadeImage } from '../../core/image.ts';
import { originsOf } from '../../providers/origins.ts';
import type { Target } from '../../routing/select.ts';
import type { Deps } from '../deps.ts';

/** How the client wants its pictures. */
export interface ImageForm {
  readonly format: 'url' | 'b64_json';
  /** Whether what has an address elsewhere is kept here. */
  readonly keeps: boolean;
  /** Of this server. */
  readonly origin: string;
  /** What names of kept files are made of. */
  readonly prompt: string;
  readonly tags: readonly string[];
}

/** One picture of an answer: either of the two, never both. */
export type ImageItem = { readonly revised_prompt?: string } & (
  | { readonly url: string }
  | { readonly b64_json: string }
);

/** A picture as the client wants it. */
export async function toItem(
  image: MadeImage,
  target: Target,
  form: ImageForm,
  deps: Deps,
  call: CallScope,
): Promise<ImageItem> {
  const said = image.revisedPrompt === undefined ? {} : { revised_prompt: image.revisedPrompt };
  if (form.format === 'b64_json') return { b64_json: await toBase64(image, target, deps, call), ...said };
  return { url: await toUrl(image, target, form, deps, call), ...said };
}

/** What it says beside its pictures. */
export function aboutOf({ about, usage }: ImageAnswer): Record<string, unknown> {
  const counted =
    usage === undefined
      ? {}
      : {
          usage: {
            input_tokens: usage.promptTokens,
            output_tokens: usage.completionTokens,
            total_tokens: usage.totalTokens,
          },
        };
  return { ...counted, ...about };
}

/** The bytes of a picture, which are fetched unless its address holds them. Throws when they cannot be had. */
export async function toBase64(image: MadeImage, target: Target, deps: Deps, call: CallScope): Promise<string> {
  const inline = heldAsBase64(image.url);
  if (inline !== undefined) return inline;
  try {
    const { bytes } = await deps.media.load(image.url, {
      signal: call.signal,
      allowedOrigins: originsOf(target.provider, deps.config()),
    });
    return bytes.toString('base64');
  } catch (thrown) {
    throw call.cancelled ?? notFetched(thrown, target);
  }
}

async function toUrl(image: MadeImage, target: Target, form: ImageForm, deps: Deps, call: CallScope): Promise<string> {
  const isInline = isDataUri(image.url);
  if (!isInline && !form.keeps) return image.url;
  try {
    const { path } = await deps.media.save(image.url, {
      tags: [target.model, ...form.tags],
      alt: form.prompt.slice(0, 200),
      signal: call.signal,
      allowedOrigins: originsOf(target.provider, deps.config()),
    });
    return `${form.origin}${path}`;
  } catch (thrown) {
    if (call.cancelled !== undefined) throw call.cancelled;
    if (isInline) throw notFetched(thrown, target);
    // As in a conversation: what cannot be kept is shown from where it is.
    const { message } = toSluiceError(thrown);
    deps.log.warn({ id: call.id, error: thrown instanceof Error ? thrown.message : message }, 'a picture was not kept');
    return image.url;
  }
}

/** That an address was refused is nothing that the client could mend. */
function notFetched(thrown: unknown, { provider, model }: Target): SluiceError {
  const error = toSluiceError(thrown);
  if (error.status >= 500) return error.from(provider.id, model);
  const message = `The provider's picture cannot be had: ${error.message}`;
  return new SluiceError('upstream_invalid', message, { cause: thrown }).from(provider.id, model);
}
