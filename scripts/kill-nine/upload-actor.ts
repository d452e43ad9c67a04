import sharp from 'sharp';
import { digestOf } from './content.ts';
import type { RunningGateway } from './running-gateway.ts';
import type { Actor, Finding } from './subject.ts';
import { type Listed, makeUpload } from './uploads.ts';

/** One upload in so many empties the bucket instead. */
const DELETES_ONE_IN = 16;

type Media = Extract<Listed, { kind: 'media' }>;

/** One bucket: uploads of several files, each there as a whole or not at all, and now and then all of it deleted. */
export function uploadActor(id: string): Actor<RunningGateway> {
  let bucket = id;
  let uploads = 0;
  let promised: readonly Listed[] = [];
  let tried: readonly Listed[] = promised;
  let acknowledged = 0;
  /** Digests of thumbnails that were seen, by name: they never change. */
  const thumbnails = new Map<string, string>();

  /** What is wrong with one picture that the bucket lists. */
  async function verifyPicture(running: RunningGateway, { name, bytes, thumbnail }: Media): Promise<Finding[]> {
    const original = await running.media(bucket, 'media', name);
    if (original === undefined) return [{ kind: 'lost', what: `picture ${bucket}/${name}` }];
    if (!original.equals(bytes)) return [{ kind: 'torn', what: `picture ${bucket}/${name}` }];
    const small = await running.media(bucket, 'thumbnail', name);
    if (small === undefined) return [{ kind: 'lost', what: `thumbnail ${bucket}/${name}` }];
    const digest = digestOf(small.toString('base64'));
    const isSeen = thumbnails.has(name);
    const isGood = isSeen ? thumbnails.get(name) === digest : await isPicture(small, thumbnail);
    thumbnails.set(name, digest);
    return isGood ? [] : [{ kind: 'torn', what: `thumbnail ${bucket}/${name}` }];
  }

  /** Of an upload that did not happen, or was deleted, nothing is served. */
  async function verifyAbsent(running: RunningGateway, { name }: Media): Promise<Finding[]> {
    const [original, small] = await Promise.all([
      running.media(bucket, 'media', name),
      running.media(bucket, 'thumbnail', name),
    ]);
    return original === undefined && small === undefined
      ? []
      : [{ kind: 'torn', what: `${bucket}/${name} is served, though nothing lists it` }];
  }

  return {
    kind: 'uploads',
    get acknowledged() {
      return acknowledged;
    },
    async write(running) {
      uploads += 1;
      if (promised.length > 0 && uploads % DELETES_ONE_IN === 0) {
        tried = [];
        await running.deleteBucket(bucket);
      } else {
        const files = await makeUpload(`${bucket}u${uploads}`);
        tried = [...promised, ...files.map(({ listed }) => listed)];
        await running.upload(bucket, files);
      }
      promised = tried;
      acknowledged += 1;
    },
    async verify(running) {
      const found = await running.bucket(bucket);
      const state = [promised, tried].find(
        (listed) => found.text === textOf(listed) && isSame(found.media, mediaOf(listed)),
      );
      if (state === undefined) {
        const missing = promised.filter((listed) => !isThere(listed, found));
        const what = `bucket ${bucket}: ${promised.length} files promised, ${missing.length} of them missing`;
        // What should be in it is not known any more: another one takes its place.
        bucket = `${bucket}n`;
        promised = [];
        tried = [];
        return [{ kind: missing.length > 0 ? 'lost' : 'torn', what }];
      }
      const absent = [...new Set([...promised, ...tried])].filter((listed) => !state.includes(listed));
      const findings: Finding[] = [];
      for (const media of mediaOf(state)) findings.push(...(await verifyPicture(running, media)));
      for (const media of mediaOf(absent)) findings.push(...(await verifyAbsent(running, media)));
      promised = state;
      tried = state;
      return findings;
    },
  };
}

/** The contract's form: every text between a line that names it and one that ends it. */
function textOf(listed: readonly Listed[]): string {
  return listed.map((each) => (each.kind === 'text' ? block(each.name, each.text) : '')).join('');
}

function block(name: string, text: string): string {
  return `<!-- File: ${name} -->\n${text}\n<!-- End -->\n\n`;
}

function mediaOf(listed: readonly Listed[]): readonly Media[] {
  return listed.filter((each) => each.kind === 'media');
}

function isSame(names: readonly string[], media: readonly Media[]): boolean {
  return names.length === media.length && media.every(({ name }, index) => names[index] === name);
}

function isThere(listed: Listed, found: { readonly text: string; readonly media: readonly string[] }): boolean {
  return listed.kind === 'text'
    ? found.text.includes(block(listed.name, listed.text))
    : found.media.includes(listed.name);
}

/** Whether it can be decoded to its last pixel, and has these sides. */
async function isPicture(bytes: Buffer, sides: { readonly width: number; readonly height: number }): Promise<boolean> {
  try {
    const { info } = await sharp(bytes, { failOn: 'warning' }).raw().toBuffer({ resolveWithObject: true });
    return info.width === sides.width && info.height === sides.height;
  } catch {
    return false;
  }
}
