import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { SluiceError } from '../../core/errors.ts';
import type { Granularity } from '../../core/transcription.ts';
import type { Deps } from '../deps.ts';
import { type Form, readForm } from '../edge/form.ts';
import { validate } from '../validate.ts';
import { DROPPED_FIELDS, Name } from '../wire.ts';

/** Fields of text beside the file. */
const FIELD_BYTES = 64 * 1024;

const TRANSCRIPT_FORMATS = ['json', 'text', 'srt', 'verbose_json', 'vtt', 'diarized_json'] as const;
/** In the words of OpenAI's `response_format`. */
export type TranscriptFormat = (typeof TRANSCRIPT_FORMATS)[number];

/** The plain fields of a form. All of them are text there. */
const Fields = z.object({
  model: Name.optional(),
  provider: Name.optional(),
  api_key: z.string().max(4_096).optional(),
  prompt: z.string().optional(),
  language: z
    .string()
    .regex(/^[A-Za-z]{2,8}([-_][A-Za-z0-9]{1,8})*$/, 'must be a language such as en')
    .optional(),
  temperature: z
    .string()
    .regex(/^\d{1,2}(\.\d{1,16})?$/, 'must be a number')
    .transform(Number)
    .optional(),
  response_format: z.enum(TRANSCRIPT_FORMATS).optional(),
  stream: z.enum(['true', 'false', '1', '0', 'True', 'False']).optional(),
  strict: z.enum(['true', 'false', '1', '0', 'True', 'False']).optional(),
  timeout: z
    .string()
    .regex(/^\d{1,6}(\.\d{1,6})?$/, 'must be a number of seconds')
    .transform(Number)
    .pipe(z.number().positive())
    .optional(),
  user: z.string().max(1_000).optional(),
});

const KNOWN: ReadonlySet<string> = new Set([
  ...Object.keys(Fields.shape),
  ...DROPPED_FIELDS,
  'file',
  'ignored',
  'models',
  'timestamp_granularities',
]);

/** What a form says. */
export interface AudioForm {
  readonly fields: Omit<z.infer<typeof Fields>, 'stream' | 'strict'>;
  readonly stream: boolean;
  readonly strict: boolean;
  readonly granularities: ReadonlySet<Granularity>;
  /** Fields that are not known here, as sent. */
  readonly extra: Readonly<Record<string, readonly string[]>>;
  /** Fields that nobody gets. */
  readonly dropped: readonly string[];
  readonly file: { readonly filename: string; readonly bytes: Buffer };
}

/** Reads a form with one file in the part `file` (or `audio`), within the limits of uploads. */
export async function readAudioForm(request: FastifyRequest, deps: Deps): Promise<AudioForm> {
  const { limits } = deps.config();
  const bounds = {
    ...limits,
    fieldBytes: FIELD_BYTES,
    uploadRequestBytes: Math.min(limits.uploadRequestBytes, limits.uploadFileBytes + 16 * FIELD_BYTES),
  };
  const form = await readForm(request.raw, bounds, deps);
  const file = fileOf(form);
  const { stream, strict, ...fields } = validate(Fields, plainFields(form), 'invalid_field');
  return {
    fields,
    stream: isTrue(stream),
    strict: isTrue(strict),
    granularities: granularitiesOf(form),
    extra: furtherFields(form),
    dropped: DROPPED_FIELDS.filter((name) => form.fields.some((field) => field.name === name)),
    file,
  };
}

function fileOf({ files }: Form): AudioForm['file'] {
  const [file, ...others] = files.filter(({ name }) => name === 'file' || name === 'audio');
  if (file === undefined) {
    throw new SluiceError('invalid_field', "The form needs a part 'file'.", { param: 'file' });
  }
  if (others.length === 0) return file;
  throw new SluiceError('invalid_field', "The form has more than one part 'file'.", { param: 'file' });
}

/** Empty fields are what forms send for what was left open. */
function plainFields({ fields }: Form): Record<string, string> {
  return Object.fromEntries(fields.filter(({ value }) => value !== '').map(({ name, value }) => [name, value]));
}

/** `timestamp_granularities[]`, once for each. */
function granularitiesOf({ fields }: Form): ReadonlySet<Granularity> {
  const values = fields.flatMap(({ name, value }) =>
    /^timestamp_granularities(\[\d*\])?$/.test(name) ? value.split(',').map((each) => each.trim()) : [],
  );
  for (const value of values) {
    if (value === 'segment' || value === 'word') continue;
    const message = "'timestamp_granularities[]' must be one of word, segment.";
    throw new SluiceError('invalid_field', message, { param: 'timestamp_granularities[]' });
  }
  return new Set(values as Granularity[]);
}

function furtherFields({ fields }: Form): Readonly<Record<string, readonly string[]>> {
  const further = new Map<string, string[]>();
  for (const { name, value } of fields) {
    if (KNOWN.has(name.replace(/\[\d*\]$/, '')) || !/^[A-Za-z][\w.-]{0,63}(\[\w*\])?$/.test(name)) continue;
    further.set(name, [...(further.get(name) ?? []), value]);
  }
  return Object.fromEntries(further);
}

function isTrue(value: string | undefined): boolean {
  return value === 'true' || value === '1' || value === 'True';
}

const text = { type: 'string' } as const;

/** The form as JSON Schema, for the documents. */
export const TranscriptionForm = {
  type: 'object',
  required: ['file'],
  properties: {
    file: {
      ...text,
      contentMediaType: 'application/octet-stream',
      description: 'The recording; its bytes tell its type',
    },
    model: text,
    provider: text,
    prompt: { ...text, description: 'Words that are likely, or how the text before went' },
    language: { ...text, description: 'What is spoken, for example `en`' },
    temperature: { type: 'number' },
    response_format: { ...text, enum: TRANSCRIPT_FORMATS },
    'timestamp_granularities[]': { type: 'array', items: { ...text, enum: ['word', 'segment'] } },
    stream: { type: 'boolean' },
    strict: { type: 'boolean' },
  },
} as const;
