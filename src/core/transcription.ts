/** What was said, as text: requests and answers of `Provider.transcribe`, free of any dialect. */

/** Spoken audio, whole. */
export interface Recording {
  readonly bytes: Buffer;
  /** What the bytes are, whatever the client called them. */
  readonly mimeType: string;
  /** With the extension that goes with its type, since some upstreams look at nothing else. */
  readonly filename: string;
}

/** `segment`: what belongs together, a sentence or so. */
export type Granularity = 'segment' | 'word';

/** A recording to write down, by one provider. */
export interface TranscriptionRequest {
  /** The provider's own name of a model; empty: its default. */
  readonly model: string;
  readonly recording: Recording;
  /** `translate`: the text in English, whatever was spoken. */
  readonly task: 'transcribe' | 'translate';
  /** What is spoken: ISO 639-1, for example `en`. */
  readonly language?: string;
  /** Words that are likely, or how the text before went. */
  readonly prompt?: string;
  /** 0 to 1. */
  readonly temperature?: number;
  /** Which times the answer shall have; empty: none. */
  readonly times: ReadonlySet<Granularity>;
  /** Who says what, in the form that OpenAI calls `diarized_json`: a `raw` answer. */
  readonly diarized: boolean;
  /** Events as they come are welcome. */
  readonly stream: boolean;
  /** Whatever else the form had, as sent; a provider takes what it understands and drops the rest. */
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

/** What a recording says. */
export interface Transcript {
  readonly text: string;
  readonly language?: string;
  /** Of the recording, in seconds. */
  readonly seconds?: number;
  readonly segments?: readonly TimedText[];
  readonly words?: readonly TimedText[];
  /** The upstream's own object, where it speaks OpenAI's format: members beside those above. */
  readonly raw?: Readonly<Record<string, unknown>>;
}

/** Text and when it was spoken, in seconds from the beginning. */
export interface TimedText {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/** An event of a transcript on its way, in OpenAI's words: `transcript.text.delta`, `transcript.text.done` and others. */
export type TranscriptEvent = Readonly<Record<string, unknown>> & { readonly type: string };

/** The events are there from the first one on. They throw when the rest cannot be had; back-pressure is the pull. */
export type Transcribed =
  | { readonly kind: 'whole'; readonly transcript: Transcript }
  | { readonly kind: 'events'; readonly events: AsyncIterable<TranscriptEvent> };
