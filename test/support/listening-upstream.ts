import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { type OpenAiUpstream, startOpenAiUpstream } from './openai-upstream.ts';
import type { SeenRequest } from './seen-request.ts';

/** A form that arrived at an upstream. */
export interface HeardForm {
  readonly path: string;
  readonly fields: Readonly<Record<string, readonly string[]>>;
  readonly file: { readonly name: string; readonly type: string; readonly bytes: Buffer };
}

export interface ListeningUpstream extends OpenAiUpstream {
  readonly forms: readonly HeardForm[];
}

export type ListeningScript = (
  form: HeardForm,
  response: ServerResponse,
  request: SeenRequest,
) => boolean | Promise<boolean>;

const SEGMENTS = [
  { id: 0, seek: 0, start: 0, end: 1.5, text: ' Good morning.', tokens: [1], avg_logprob: -0.1, no_speech_prob: 0.01 },
  {
    id: 1,
    seek: 0,
    start: 1.5,
    end: 3.25,
    text: ' Is <this> on?',
    tokens: [2],
    avg_logprob: -0.2,
    no_speech_prob: 0.01,
  },
];
const WORDS = [
  { word: 'Good', start: 0, end: 0.5 },
  { word: 'morning', start: 0.5, end: 1.5 },
];
export const HEARD = 'Good morning. Is <this> on?';

/** An upstream with the `/audio/transcriptions` and `/audio/translations` of OpenAI. A model named `*-transcribe` streams. */
export async function startListeningUpstream(script: ListeningScript = () => false): Promise<ListeningUpstream> {
  const forms: HeardForm[] = [];
  const upstream = await startOpenAiUpstream(undefined, {
    models: ['test-model', 'whisper-test', 'gpt-test-transcribe'],
    async handle(request, response) {
      if (!request.path.startsWith('/v1/audio/t')) return false;
      const form = await readForm(request);
      forms.push(form);
      if (await script(form, response, request)) return true;
      await answer(form, response);
      return true;
    },
  });
  return Object.assign(upstream, { forms });
}

async function answer({ fields, path }: HeardForm, response: ServerResponse): Promise<void> {
  const [model = ''] = fields['model'] ?? [];
  const [format = 'json'] = fields['response_format'] ?? [];
  const text = path.endsWith('/translations') ? `In English: ${HEARD}` : HEARD;
  if (fields['stream']?.[0] === 'true' && model.endsWith('-transcribe')) {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const delta of text.split(/(?= )/)) {
      response.write(`data: ${JSON.stringify({ type: 'transcript.text.delta', delta })}\n\n`);
      await sleep(2);
    }
    const usage = { type: 'tokens', input_tokens: 14, output_tokens: 9, total_tokens: 23 };
    response.end(`data: ${JSON.stringify({ type: 'transcript.text.done', text, usage })}\n\n`);
    return;
  }
  const verbose = {
    task: 'transcribe',
    language: 'english',
    duration: 3.25,
    text,
    segments: SEGMENTS,
    ...((fields['timestamp_granularities[]'] ?? []).includes('word') ? { words: WORDS } : {}),
  };
  const usage = { type: 'duration', seconds: 4 };
  const body = format === 'verbose_json' ? { ...verbose, usage } : { text, usage };
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

/** Any multipart form, read by Node's own reader. */
export async function readForm({ path, headers, rawBody }: SeenRequest): Promise<HeardForm> {
  const { 'content-type': type = '' } = headers;
  const form = await new Response(new Uint8Array(rawBody), { headers: { 'content-type': type } }).formData();
  const fields: Record<string, readonly string[]> = {};
  let file = { name: '', type: '', bytes: Buffer.alloc(0) };
  for (const [name, value] of form) {
    if (typeof value === 'string') fields[name] = [...(fields[name] ?? []), value];
    else file = { name: value.name, type: value.type, bytes: Buffer.from(await value.arrayBuffer()) };
  }
  return { path, fields, file };
}

/** A second of silence. */
export function silence(seconds = 1): Buffer {
  const rate = 8_000;
  const samples = Math.round(seconds * rate);
  const header = Buffer.alloc(44);
  header.write('RIFF', 0);
  header.writeUInt32LE(36 + samples * 2, 4);
  header.write('WAVEfmt ', 8);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(rate, 24);
  header.writeUInt32LE(rate * 2, 28);
  header.writeUInt16LE(2, 32);
  header.writeUInt16LE(16, 34);
  header.write('data', 36);
  header.writeUInt32LE(samples * 2, 40);
  return Buffer.concat([header, Buffer.alloc(samples * 2)]);
}
