import type { Usage } from './chunk.ts';
import type { Member } from './json.ts';

/** Pictures, or videos, of one request. */
export const MOST_IMAGES = 10;
/** Bytes of one picture that is sent along. */
export const MOST_IMAGE_BYTES = 50 * 1024 * 1024;

/** A picture that came with a request. */
export interface ImageInput {
  /** An http(s) address or a `data:` URI (base64). */
  readonly url: string;
  /** Known for every `data:` URI. */
  readonly mimeType?: string;
  readonly name?: string;
}

/** In pixels. */
export interface ImageSize {
  readonly width: number;
  readonly height: number;
}

/** What shall be drawn, free of any dialect. */
export interface ImageRequest {
  /** `edit`: by the pictures that came along; `variation`: something like the one that came along, without words. */
  readonly task: 'generate' | 'edit' | 'variation';
  /** Empty only for variations. */
  readonly prompt: string;
  /** The provider's own name of a model. */
  readonly model: string;
  readonly n: number;
  readonly size?: ImageSize;
  /** As `16:9`. */
  readonly aspectRatio?: string;
  readonly seed?: number;
  readonly negativePrompt?: string;
  readonly steps?: number;
  readonly guidance?: number;
  readonly images: readonly ImageInput[];
  /** Where the first picture shall change: transparent there (OpenAI), or white there. */
  readonly mask?: ImageInput;
  /** The client wants to watch: so many unfinished pictures of each. */
  readonly partialImages?: number;
  /** All fields of the request beside its pictures, in the words of OpenAI's images API; a provider takes what it understands. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** The client's own JSON, where it is one of that API: values go to an upstream that speaks it as they were sent. */
  readonly sent?: { readonly bytes: Buffer; readonly members: readonly Member[] };
}

/** A picture, or a video, as a provider gave it. */
export interface MadeImage {
  readonly kind: 'image' | 'video';
  /** An http(s) address or a `data:` URI. */
  readonly url: string;
  readonly mimeType?: string;
  /** What the provider made of the prompt. */
  readonly revisedPrompt?: string;
}

/** What a provider drew, or made while it chatted. */
export interface ImageAnswer {
  /** None: the provider made nothing and did not say why. */
  readonly images: readonly MadeImage[];
  readonly usage?: Usage;
  /** What an upstream of OpenAI's images API says beside the pictures: `size`, `quality`, `usage`, … */
  readonly about?: Readonly<Record<string, unknown>>;
}

/** Told while a provider draws. */
export interface ImageWatcher {
  /** The upstream gave a sign of life: a job that is asked for its state goes on as long as it answers. */
  alive(): void;
  /** An unfinished picture. `index` counts those of one picture from 0. */
  partial(image: MadeImage, index: number): void;
}
