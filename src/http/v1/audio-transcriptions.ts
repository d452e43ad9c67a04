import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { CallScope } from '../../core/call.ts';
import { SluiceError } from '../../core/errors.ts';
import { defined } from '../../core/objects.ts';
import { toSegments, toSrt, toVtt } from '../../core/timed-text.ts';
import type {
  Granularity,
  Recording,
  Transcribed,
  Transcript,
  TranscriptEvent,
  TranscriptionRequest,
} from '../../core/transcription.ts';
import type { Asked, Performed } from '../../routing/router.ts';
import { answerHeaders, withCall } from '../answer.ts';
import type { Deps, Handler } from '../deps.ts';
import { clientKeys } from '../keys.ts';
import { perform, timed } from '../perform.ts';
import { parseRecording } from '../recording.ts';
import { sendEvents } from '../send-events.ts';
import { wishOf } from '../wish.ts';
import { type AudioForm, readAudioForm, type TranscriptFormat } from './audio-form.ts';

/** Formats that are sent as events, too; the others need the whole. */
const STREAMED: ReadonlySet<TranscriptFormat> = new Set(['json', 'text', 'diarized_json']);

/** The formats that are JSON; the others are bare text. */
export const TranscriptAnswer = z.looseObject({ text: z.string(), model: z.string(), provider: z.string() });

/** `POST audio/transcriptions`: what a recording says. And `POST audio/translations`: the same in English. */
export function transcriptions(deps: Deps, task: TranscriptionRequest['task']): Handler {
  return async (request, reply) => {
    const form = await readAudioForm(request, deps);
    return transcribe(request, reply, deps, form, parseRecording(form.file.bytes), task);
  };
}

/** Answers a form that was read already. Throws `invalid_field` for `stream` with a format that has no events. */
export function transcribe(
  request: FastifyRequest,
  reply: FastifyReply,
  deps: Deps,
  form: AudioForm,
  recording: Recording,
  task: TranscriptionRequest['task'],
): Promise<FastifyReply> {
  const { language, prompt, temperature, timeout, user, response_format: format = 'json' } = form.fields;
  if (form.stream && !STREAMED.has(format)) {
    throw new SluiceError('invalid_field', `'stream' does not go with the response_format ${format}.`, {
      param: 'stream',
    });
  }
  const times = timesOf(format, form.granularities);
  const wanted = {
    recording,
    task,
    times,
    diarized: format === 'diarized_json',
    stream: form.stream,
    extra: form.extra,
    ...defined({ language, prompt, temperature }),
  };
  return withCall(request, reply, deps, { timeout, user, strict: form.strict }, async (call) => {
    const answered = await perform(
      deps,
      askedOf(request, form),
      'transcribe',
      call,
      async (provider, model, scope) => {
        const value = await provider.transcribe({ ...wanted, model }, scope);
        if (value.kind === 'whole') check(value.transcript, format, provider.label);
        return { ...value, scope };
      },
      // An hour of speech takes its time.
      { waitMs: deps.config().limits.imageMs, isOver: ({ kind }) => kind === 'whole' },
    );
    const headers = answerHeaders(answered);
    if (form.stream) return sendEvents(reply, encodeEvents(answered, deps), headers, deps, call);
    const { value, target } = answered;
    if (value.kind !== 'whole') throw new Error('events that nobody asked for');
    noteTokens(deps, answered, value.transcript.raw?.['usage']);
    const about = { model: target.model, provider: target.provider.id };
    reply.headers(headers);
    const encoded = encode(value.transcript, format, times, task, about);
    if (typeof encoded === 'object') reply.send(encoded);
    else
      reply
        .header('content-type', format === 'vtt' ? 'text/vtt; charset=utf-8' : 'text/plain; charset=utf-8')
        .send(encoded);
    return undefined;
  });
}

/** What a recording says, as a text and nothing else. */
export async function hear(
  request: FastifyRequest,
  deps: Deps,
  call: CallScope,
  recording: Recording,
): Promise<string> {
  const plain = {
    recording,
    task: 'transcribe',
    times: new Set<Granularity>(),
    diarized: false,
    stream: false,
  } as const;
  const answered = await perform(
    deps,
    { wish: wishOf({}, request), keys: clientKeys(request, undefined) },
    'transcribe',
    call,
    async (provider, model, scope) => ({
      ...(await provider.transcribe({ ...plain, extra: {}, model }, scope)),
      scope,
    }),
    { waitMs: deps.config().limits.imageMs },
  );
  const { value } = answered;
  if (value.kind !== 'whole') throw new Error('events that nobody asked for');
  noteTokens(deps, answered, value.transcript.raw?.['usage']);
  return value.transcript.text;
}

function askedOf(request: FastifyRequest, { fields, dropped }: AudioForm): Asked {
  return { wish: wishOf(fields, request), keys: clientKeys(request, fields.api_key), dropped };
}

/** Subtitles are made of segments, and so is `verbose_json`, unless words are asked for. */
function timesOf(format: TranscriptFormat, granularities: ReadonlySet<Granularity>): ReadonlySet<Granularity> {
  if (format === 'srt' || format === 'vtt') return new Set(['segment']);
  if (format !== 'verbose_json') return new Set();
  return granularities.size === 0 ? new Set(['segment']) : granularities;
}

/** Another provider may have what this one lacks. */
function check(transcript: Transcript, format: TranscriptFormat, label: string): void {
  const hasTimes = transcript.segments !== undefined || transcript.words !== undefined;
  const isLacking =
    ((format === 'srt' || format === 'vtt') && !hasTimes) ||
    (format === 'diarized_json' && transcript.raw?.['segments'] === undefined);
  if (!isLacking) return;
  throw new SluiceError('not_supported', `${label} does not tell what ${format} needs; ask it for json or text.`, {
    param: 'response_format',
  });
}

function encode(
  transcript: Transcript,
  format: TranscriptFormat,
  times: ReadonlySet<Granularity>,
  task: string,
  about: { readonly model: string; readonly provider: string },
): object | string {
  const { text, language, seconds, words = [], segments = toSegments(words), raw = {} } = transcript;
  switch (format) {
    case 'text':
      return `${text}\n`;
    case 'srt':
      return toSrt(segments);
    case 'vtt':
      return toVtt(segments);
    case 'json':
      return { text, ...raw, ...about };
    case 'diarized_json':
      return { text, ...(seconds === undefined ? {} : { duration: seconds }), ...raw, ...about };
    case 'verbose_json':
      return {
        task,
        ...(language === undefined ? {} : { language }),
        ...(seconds === undefined ? {} : { duration: seconds }),
        text,
        ...(times.has('segment') ? { segments: segments.map((segment, id) => ({ id, ...segment })) } : {}),
        ...(times.has('word') ? { words: words.map(({ text: word, start, end }) => ({ word, start, end })) } : {}),
        ...raw,
        ...about,
      };
  }
}

type Answer = Performed<Transcribed & { readonly scope: CallScope }>;

/** The events of an upstream that streams; those of another one are the whole text at once. */
async function* encodeEvents(answered: Answer, deps: Deps): AsyncGenerator<string, void> {
  const { value } = answered;
  const events = value.kind === 'events' ? timed(value.events, deps, value.scope) : wholeEvents(value.transcript);
  for await (const event of events) {
    if (event.type === 'transcript.text.done') noteTokens(deps, answered, event['usage']);
    yield `data: ${JSON.stringify(event)}\n\n`;
  }
}

function* wholeEvents({ text, raw }: Transcript): Generator<TranscriptEvent, void> {
  if (text !== '') yield { type: 'transcript.text.delta', delta: text };
  yield { type: 'transcript.text.done', text, ...(raw?.['usage'] === undefined ? {} : { usage: raw['usage'] }) };
}

/** Upstreams that count tokens are noted in the statistics; seconds have no place there. */
function noteTokens({ router }: Deps, { target, value }: Answer, usage: unknown): void {
  const { input_tokens: input, output_tokens: output = 0 } = (usage ?? {}) as Record<string, unknown>;
  if (typeof input !== 'number' || typeof output !== 'number') return;
  router.spent(target, { promptTokens: input, completionTokens: output, totalTokens: input + output }, value.scope);
}
