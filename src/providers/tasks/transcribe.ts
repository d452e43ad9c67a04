import type { Call } from '../../core/call.ts';
import { SluiceError } from '../../core/errors.ts';
import { isObject, parseObject, wordsOf } from '../../core/objects.ts';
import type { Provider } from '../../core/provider.ts';
import type {
  TimedText,
  Transcribed,
  Transcript,
  TranscriptEvent,
  TranscriptionRequest,
} from '../../core/transcription.ts';
import type { Body, UpstreamResponse } from '../../outbound/body.ts';
import { type Form, toForm } from '../form.ts';
import { beginningOf } from '../openai/beginning.ts';
import { EventReader, looksLikeEvents } from '../openai/events.ts';
import { failureInAnswer } from '../openai/failure.ts';
import { needModel, parseAnswer, post, type TaskUpstream } from './post.ts';

/** `transcribe` by the `/audio/transcriptions` and `/audio/translations` of an upstream that speaks the OpenAI wire format. */
export function transcribeByRelay(upstream: TaskUpstream): NonNullable<Provider['transcribe']> {
  return async (request, call) => {
    const form = formOf(request, needModel(request.model, upstream.provider), call);
    const endpoint = request.task === 'translate' ? '/audio/translations' : '/audio/transcriptions';
    const deed = request.task === 'translate' ? 'translate audio' : 'transcribe audio';
    return decode(await post(upstream, { deed, endpoint, ...form }, call), upstream, request);
  };
}

/**
 * What the upstream gets. Times come in one form only, whatever the client wants them in: many know nothing else, and the other
 * forms are made of it here.
 */
function formOf(request: TranscriptionRequest, model: string, call: Call): Form {
  const { task, language, prompt, temperature, times, stream, diarized } = request;
  const fields: [string, string][] = [['model', model]];
  if (language !== undefined && task === 'transcribe') fields.push(['language', language]);
  else if (language !== undefined) call.drop('language');
  if (prompt !== undefined) fields.push(['prompt', prompt]);
  if (temperature !== undefined) fields.push(['temperature', String(temperature)]);
  fields.push(['response_format', diarized ? 'diarized_json' : times.size > 0 ? 'verbose_json' : 'json']);
  // Segments are what it has by itself; asking for them alone is an error in some.
  if (times.has('word')) for (const granularity of times) fields.push(['timestamp_granularities[]', granularity]);
  if (stream) fields.push(['stream', 'true']);
  for (const [name, values] of Object.entries(request.extra)) for (const value of values) fields.push([name, value]);
  return toForm([...fields.map(([name, text]) => ({ name, text })), { name: 'file', ...request.recording }]);
}

async function decode(
  { headers, body }: UpstreamResponse,
  upstream: TaskUpstream,
  { stream }: TranscriptionRequest,
): Promise<Transcribed> {
  const { answerBytes, sseLineBytes } = upstream.limits();
  const whole = (bytes: Buffer): Transcribed => {
    // Of a recording in which nobody speaks, text may be empty; no other form can.
    if (bytes.length === 0 && !String(headers['content-type']).startsWith('text/plain'))
      throw noText(upstream.provider);
    return { kind: 'whole', transcript: toTranscript(bytes, upstream.provider) };
  };
  if (stream) {
    const head = await beginningOf(body, answerBytes);
    // Whisper does not stream, and then sends what it would have sent otherwise.
    if (looksLikeEvents(head) !== true) {
      const rest = await body.collect(answerBytes);
      return whole(Buffer.concat([head, rest]));
    }
    return { kind: 'events', events: await begun(events(head, body, sseLineBytes)) };
  }
  return whole(await body.collect(answerBytes));
}

/** Waits for the first event, so that what fails before it can still become a status. */
export async function begun(events: AsyncGenerator<TranscriptEvent, void>): Promise<AsyncIterable<TranscriptEvent>> {
  const first = await events.next();
  return (async function* () {
    try {
      if (first.done !== true) yield first.value;
      yield* events;
    } finally {
      await events.return();
    }
  })();
}

async function* events(head: Buffer, body: Body, limit: number): AsyncGenerator<TranscriptEvent, void> {
  const reader = new EventReader(limit);
  let text = '';
  let isDone = false;
  const toEvents = (data: readonly string[]): TranscriptEvent[] =>
    data.flatMap((each): TranscriptEvent[] => {
      // vLLM has no event for the end but this one.
      const end: TranscriptEvent | undefined = isDone ? undefined : { type: 'transcript.text.done', text };
      const event = each === '[DONE]' ? end : toEvent(each);
      if (event === undefined) return [];
      if (event.type === 'transcript.text.delta') text += wordsOf(event['delta'] ?? '');
      isDone ||= event.type === 'transcript.text.done';
      return [event];
    });
  try {
    for (let bytes: Buffer | undefined = head; ; ) {
      yield* toEvents(bytes === undefined ? reader.end() : reader.push(bytes));
      if (bytes === undefined) break;
      const { value, done }: IteratorResult<Buffer> = await body.next();
      bytes = done === true ? undefined : value;
    }
    if (!isDone) throw new SluiceError('upstream_cut', 'The provider broke off the transcript.');
  } finally {
    await body.return();
  }
}

function toEvent(data: string): TranscriptEvent | undefined {
  const json = parseObject(data);
  if (json === undefined) return undefined;
  const failure = failureInAnswer(json);
  if (failure !== undefined) throw failure;
  if (typeof json['type'] === 'string') return { ...json, type: json['type'] };
  // vLLM streams in the form of chat completions.
  const [choice] = Array.isArray(json['choices']) ? json['choices'] : [];
  const delta = isObject(choice) && isObject(choice['delta']) ? choice['delta']['content'] : undefined;
  return typeof delta === 'string' && delta !== '' ? { type: 'transcript.text.delta', delta } : undefined;
}

function toTranscript(bytes: Buffer, provider: Provider): Transcript {
  const start = bytes.toString('utf8', 0, 64).trimStart();
  // Small servers know no form but text.
  if (!start.startsWith('{') && !start.startsWith('<')) return { text: bytes.toString('utf8').trim() };
  const json = parseAnswer(bytes, provider);
  const { text, language, duration, segments, words, ...raw } = json;
  if (typeof text !== 'string') throw noText(provider);
  // Some write it as text.
  const seconds = typeof duration === 'string' ? Number(duration) : duration;
  return {
    text,
    ...(typeof language === 'string' ? { language } : {}),
    ...(typeof seconds === 'number' && Number.isFinite(seconds) ? { seconds } : {}),
    ...(Array.isArray(segments) ? { segments: segments.flatMap((each) => timed(each, 'text')) } : {}),
    ...(Array.isArray(words) ? { words: words.flatMap((each) => timed(each, 'word')) } : {}),
    raw: { ...raw, ...(Array.isArray(segments) ? { segments } : {}), ...(Array.isArray(words) ? { words } : {}) },
  };
}

function noText({ label }: Provider): SluiceError {
  return new SluiceError('upstream_invalid', `${label} sent no text.`);
}

function timed(value: unknown, member: 'text' | 'word'): TimedText[] {
  if (!isObject(value)) return [];
  const { [member]: text, start, end } = value;
  return typeof text === 'string' && typeof start === 'number' && typeof end === 'number' ? [{ text, start, end }] : [];
}
