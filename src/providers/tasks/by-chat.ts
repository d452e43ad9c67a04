import type { Limits } from '../../config/config.ts';
import type { Call } from '../../core/call.ts';
import type { ChatRequest } from '../../core/chat.ts';
import { collect, within } from '../../core/collect.ts';
import { dataUri } from '../../core/data-uri.ts';
import { SluiceError } from '../../core/errors.ts';
import { membersOf, parseObject } from '../../core/objects.ts';
import type { Provider } from '../../core/provider.ts';
import type { TimedText, Transcribed, TranscriptEvent, TranscriptionRequest } from '../../core/transcription.ts';
import { needModel } from './post.ts';
import { begun } from './transcribe.ts';

/** The same provider, which now also transcribes: its models hear, and are asked in a chat to write down what they heard. */
export function withChatTranscription(provider: Provider, limits: () => Pick<Limits, 'answerBytes'>): Provider {
  const { chat } = provider;
  if (chat === undefined) return provider;
  return Object.assign(provider, {
    async transcribe(request: TranscriptionRequest, call: Call): Promise<Transcribed> {
      for (const field of Object.keys(request.extra)) call.drop(field);
      if (request.diarized) throw new SluiceError('not_supported', `${provider.label} does not tell who speaks.`);
      if (request.times.has('word')) call.drop('timestamp_granularities[]');
      const asked = toChat({ ...request, model: needModel(request.model, provider) });
      const chunks = chat.call(provider, asked, call);
      if (request.stream) return { kind: 'events', events: await begun(events(chunks)) };
      const { content, usage } = await collect(within(chunks, limits().answerBytes));
      const raw = usage === undefined ? {} : { usage: usageOf(usage) };
      if (request.times.size === 0) return { kind: 'whole', transcript: { text: content.trim(), raw } };
      const segments = parseSegments(content, provider);
      const text = segments.map((segment) => segment.text).join(' ');
      const seconds = segments.at(-1)?.end;
      return { kind: 'whole', transcript: { text, segments, raw, ...(seconds === undefined ? {} : { seconds }) } };
    },
  });
}

function toChat(request: TranscriptionRequest): ChatRequest {
  const { bytes, mimeType, filename } = request.recording;
  const url = dataUri(mimeType, bytes);
  return {
    model: request.model,
    providers: [],
    ignored: [],
    messages: [
      {
        role: 'user',
        content: [
          { type: 'media', kind: 'audio', url, mimeType, name: filename },
          { type: 'text', text: instructionFor(request) },
        ],
      },
    ],
    sampling: { temperature: request.temperature ?? 0 },
    ...(request.times.size === 0 ? {} : { responseFormat: SEGMENTS }),
    downloadMedia: false,
    extra: {},
  };
}

function instructionFor({ task, language, prompt, times }: TranscriptionRequest): string {
  const sentences = [
    task === 'translate'
      ? 'Translate everything that is said in this recording into English.'
      : 'Write down word for word what is said in this recording, in the language in which it is said.',
  ];
  if (language !== undefined) sentences.push(`The language that is spoken is "${language}" (ISO 639-1).`);
  if (prompt !== undefined)
    sentences.push(`Names and words that may occur, or the text before: ${JSON.stringify(prompt)}`);
  sentences.push(
    times.size === 0
      ? 'Answer with that text alone: no title, no remark, no times. If nothing is said, answer with nothing.'
      : 'Answer in segments of a sentence or so, each with its start and end in seconds from the beginning.',
  );
  return sentences.join(' ');
}

const SEGMENTS = {
  type: 'json_schema',
  name: 'transcript',
  schema: {
    type: 'object',
    properties: {
      segments: {
        type: 'array',
        items: {
          type: 'object',
          properties: { start: { type: 'number' }, end: { type: 'number' }, text: { type: 'string' } },
          required: ['start', 'end', 'text'],
        },
      },
    },
    required: ['segments'],
  },
} as const;

function parseSegments(content: string, { label }: Provider): readonly TimedText[] {
  const { segments } = parseObject(content) ?? {};
  const listed = Array.isArray(segments) ? segments : undefined;
  const timed = listed?.flatMap((segment): TimedText[] => {
    const { start, end, text } = membersOf(segment);
    if (typeof start !== 'number' || typeof end !== 'number' || typeof text !== 'string') return [];
    return [{ text: text.trim(), start, end }];
  });
  if (timed !== undefined && timed.length === listed?.length) return timed;
  throw new SluiceError('upstream_invalid', `${label} did not tell the times in the form that it was asked for.`);
}

/** The chat's pieces as events of a transcript. */
async function* events(chunks: ReturnType<NonNullable<Provider['chat']>>): AsyncGenerator<TranscriptEvent, void> {
  let text = '';
  let usage: object | undefined;
  for await (const batch of chunks) {
    for (const chunk of batch) {
      if (chunk.type === 'usage') usage = usageOf(chunk.usage);
      if (chunk.type !== 'content' || chunk.content === '') continue;
      text += chunk.content;
      yield { type: 'transcript.text.delta', delta: chunk.content };
    }
  }
  yield { type: 'transcript.text.done', text, ...(usage === undefined ? {} : { usage }) };
}

function usageOf(usage: { readonly promptTokens: number; readonly completionTokens: number }): object {
  const { promptTokens: input, completionTokens: output } = usage;
  return { type: 'tokens', input_tokens: input, output_tokens: output, total_tokens: input + output };
}
