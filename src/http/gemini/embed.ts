import { isDeepStrictEqual } from 'node:util';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { EmbeddingRequest, Embeddings } from '../../core/embedding.ts';
import { SluiceError } from '../../core/errors.ts';
import { toNumbers } from '../../core/vectors.ts';
import { speaks } from '../../providers/ai-sdk/native.ts';
import { answerHeaders, withCall } from '../answer.ts';
import type { Deps } from '../deps.ts';
import { bodyValue } from '../edge/body.ts';
import { type Counted, performEmbedding } from '../embedding.ts';
import { inNames } from '../field-names.ts';
import { clientKeys } from '../keys.ts';
import { validate } from '../validate.ts';
import { wishOf } from '../wish.ts';
import {
  BatchEmbedContentsBody,
  EmbedContentBody,
  NO_SETTINGS,
  REFUSED_FIELDS,
  type WireAsking,
  type WireEmbedding,
} from './wire.ts';

/** How adapters call what a request may say beside its content → how this API calls it. */
const FIELD_NAMES: Readonly<Record<string, string>> = { dimensions: 'outputDimensionality', task_type: 'taskType' };

type Settings = Pick<EmbeddingRequest, 'dimensions' | 'extra'>;

/** `:embedContent`: one content as one vector. */
export async function embedContent(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  model: string,
): Promise<FastifyReply> {
  const body = validate(EmbedContentBody, bodyValue(request), 'invalid_request');
  const inputs = [textOf(body, 'content')];
  return embed(deps, request, reply, model, body, inputs, settingsOf(body), ([embedding]) => ({ embedding }));
}

/** `:batchEmbedContents`: several, each as a vector of its own. */
export async function batchEmbedContents(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  model: string,
): Promise<FastifyReply> {
  const body = validate(BatchEmbedContentsBody, bodyValue(request), 'invalid_request');
  const { requests } = body;
  const inputs = requests.map((each, index) => textOf(each, `requests[${index}].content`));
  const [settings = { extra: {} }, ...others] = requests.map(settingsOf);
  const other = others.findIndex((each) => !isDeepStrictEqual(each, settings));
  if (other !== -1) {
    const param = `requests[${other + 1}]`;
    throw new SluiceError(
      'invalid_request',
      `'${param}' must have the settings of the first request, such as taskType and outputDimensionality. Send those with others by themselves.`,
      { param },
    );
  }
  return embed(deps, request, reply, model, body, inputs, settings, (embeddings) => ({ embeddings }));
}

async function embed(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  model: string,
  body: WireAsking,
  inputs: readonly string[],
  { extra, ...settings }: Settings,
  encode: (embeddings: readonly { values: readonly number[] }[]) => object,
): Promise<FastifyReply> {
  const asked = {
    wish: wishOf({ ...body, model }),
    keys: clientKeys(request, body.apiKey),
    dropped: [...REFUSED_FIELDS].filter((name) => Object.hasOwn(body, name)),
  };
  const { user, timeout, strict } = body;
  return withCall(request, reply, deps, { user, timeout, strict }, async (call) => {
    const answered = await inNames(
      FIELD_NAMES,
      performEmbedding(deps, asked, call, inputs, (provider, name, scope) => {
        const isGoogle = speaks(provider, 'gemini');
        // Others would refuse a field that only Google knows.
        if (!isGoogle) for (const field of Object.keys(extra)) scope.drop(field);
        const wanted = { ...settings, inputs, isSingle: inputs.length === 1, encoding: undefined };
        return provider.embed({ ...wanted, model: name, extra: isGoogle ? extra : {} }, scope);
      }),
    );
    const { vectors, usage } = answered.value;
    reply.headers(answerHeaders(answered)).send({ ...encode(vectors.map(toValues)), ...toUsage(usage) });
  });
}

function toValues(vector: Embeddings['vectors'][number]): { values: readonly number[] } {
  return { values: toNumbers(vector) };
}

/** Google counts for some models only, and has no word for an estimate. */
function toUsage(usage: Counted['usage']): object {
  return usage.estimated === true ? {} : { usageMetadata: { promptTokenCount: usage.promptTokens } };
}

/** Texts only: no provider is asked for the vector of anything else. */
function textOf({ content }: WireEmbedding, param: string): string {
  const parts = [content.parts ?? []].flat();
  const other = parts.findIndex(({ text }) => text === undefined);
  if (other !== -1) {
    const place = `${param}.parts[${other}]`;
    throw new SluiceError('invalid_request', `'${place}' must have a text: nothing else becomes a vector here.`, {
      param: place,
    });
  }
  const text = parts.map((part) => part.text).join('\n');
  if (text === '') throw new SluiceError('invalid_request', `'${param}' needs a part with a text.`, { param });
  return text;
}

function settingsOf(request: WireEmbedding): Settings {
  const own = Object.entries(request).filter(([name, value]) => value !== null && !NO_SETTINGS.has(name));
  const { outputDimensionality, taskType, ...others } = { ...request.embedContentConfig, ...Object.fromEntries(own) };
  const extra = { ...(taskType == null ? {} : { task_type: taskType }), ...others };
  return { ...(outputDimensionality == null ? {} : { dimensions: outputDimensionality }), extra };
}
