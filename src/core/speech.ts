/** Formats of spoken audio, in the words of OpenAI's `response_format`, and `ogg` (Vorbis). The first are preferred. */
export const SPEECH_FORMATS = ['mp3', 'ogg', 'opus', 'wav', 'aac', 'flac', 'pcm'] as const;

/** One of them; which ones a provider can make stand in its `speechFormats`. */
export type SpeechFormat = (typeof SPEECH_FORMATS)[number];

/** Content type of each format. Raw samples are 16 bit, little-endian, mono, 24,000 a second, as OpenAI sends them. */
export const SPEECH_TYPES: Readonly<Record<SpeechFormat, string>> = {
  mp3: 'audio/mpeg',
  ogg: 'audio/ogg; codecs=vorbis',
  opus: 'audio/ogg; codecs=opus', // Ogg Opus (RFC 7845 §9)
  wav: 'audio/wav',
  aac: 'audio/aac',
  flac: 'audio/flac',
  pcm: 'audio/pcm;rate=24000;channels=1',
};

/** Characters of one text. */
export const LONGEST_SPEECH = 10_000;

/** A text to be spoken. */
export interface SpeechRequest {
  readonly text: string;
  /** The provider's own name of a voice; absent: its default. */
  readonly voice?: string;
  /** The voice is one that its user made: OpenAI takes its id in another form than names. */
  readonly isOwnVoice?: boolean;
  /** One of the provider's `speechFormats`. */
  readonly format: SpeechFormat;
  /** 1 is the voice's own pace, 2 twice as fast; from 0.25 to 4. */
  readonly speed?: number;
  /** ISO 639-1, for example `en`. */
  readonly language?: string;
  /** The provider's own name of a model; absent: its default. */
  readonly model?: string;
  /** Whatever else was asked for; a provider takes what it understands. */
  readonly extra: Readonly<Record<string, unknown>>;
}

/** Spoken audio, of which the first bytes are there. */
export interface Speech {
  /** Content type of the bytes, with parameters. */
  readonly mimeType: string;
  /** Throws when the rest cannot be had. Back-pressure is the pull. */
  readonly body: AsyncIterable<Uint8Array>;
}

/** One voice of a provider. */
export interface Voice {
  /** What requests name. */
  readonly id: string;
  readonly label: string;
  /** ISO 639-1. */
  readonly language: string;
}
