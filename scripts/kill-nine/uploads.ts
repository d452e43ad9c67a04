import { randomInt } from 'node:crypto';
import sharp from 'sharp';
import { docx, paragraphs } from '../../test/fixtures/documents/hostile.ts';
import { digestOf, randomFiller } from './content.ts';

/** A file as it is sent, and what the bucket has to hold of it afterwards. */
export interface UploadedFile {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly listed: Listed;
}

/** What a bucket has to hold of a file. */
export type Listed =
  /** `text`: what the bucket's text says between the lines around it. */
  | { readonly kind: 'text'; readonly name: string; readonly text: string }
  /** Sides of the image and of its thumbnail in pixels; `bytes` are what was sent. */
  | {
      readonly kind: 'media';
      readonly name: string;
      readonly bytes: Uint8Array;
      readonly thumbnail: { readonly width: number; readonly height: number };
    };

const MOST_FILES = 3;
/** Side of the largest thumbnail, in pixels. */
const THUMBNAIL = 400;
const NOISY_ROWS = 16;

/** One to three files of different kinds, with names that nothing had before: `stem` and a number. */
export async function makeUpload(stem: string): Promise<readonly UploadedFile[]> {
  return await Promise.all(
    Array.from({ length: 1 + randomInt(MOST_FILES) }, async (_, n) => {
      const make = MAKERS[randomInt(MAKERS.length)] ?? plainText;
      return await make(`${stem}f${n}`);
    }),
  );
}

const MAKERS: readonly ((stem: string) => UploadedFile | Promise<UploadedFile>)[] = [
  plainText,
  plainText,
  webPage,
  wordDocument,
  picture,
];

function plainText(stem: string): UploadedFile {
  const text = randomText();
  return { name: `${stem}.txt`, bytes: Buffer.from(text), listed: { kind: 'text', name: `${stem}.txt`, text } };
}

function webPage(stem: string): UploadedFile {
  const [first, second] = [randomText(20_000), randomText(2_000)];
  const page = `<!doctype html><html><body><h1>${stem}</h1><p>${first}</p><p>${second}</p></body></html>`;
  return {
    name: `${stem}.html`,
    bytes: Buffer.from(page),
    listed: { kind: 'text', name: `${stem}.html.md`, text: `# ${stem}\n\n${first}\n\n${second}` },
  };
}

function wordDocument(stem: string): UploadedFile {
  const texts = [stem, randomText(20_000), randomText(2_000)];
  return {
    name: `${stem}.docx`,
    bytes: docx(paragraphs(texts)),
    listed: { kind: 'text', name: `${stem}.docx.md`, text: texts.join('\n\n') },
  };
}

async function picture(stem: string): Promise<UploadedFile> {
  const [width, height] = [1 + randomInt(700), NOISY_ROWS + randomInt(700)];
  const pixels = Buffer.alloc(width * height * 3, randomInt(256));
  // Noise does not pack, so every picture has other bytes, and some weight.
  for (let n = 0; n < width * NOISY_ROWS * 3; n += 1) pixels[n] = randomInt(256);
  const bytes = await sharp(pixels, { raw: { width, height, channels: 3 } })
    .png()
    .toBuffer();
  const scale = Math.min(1, THUMBNAIL / Math.max(width, height));
  const side = (length: number): number => Math.max(1, Math.round(length * scale));
  return {
    name: `${stem}.png`,
    bytes,
    listed: {
      kind: 'media',
      name: `${stem}.png`,
      bytes,
      thumbnail: { width: side(width), height: side(height) },
    },
  };
}

function randomText(longest?: number): string {
  // Single spaces and no line breaks: nothing that a converter may tidy up.
  const filler = randomFiller(longest).trimEnd();
  return `${filler} ${digestOf(filler)}`.trimStart();
}
