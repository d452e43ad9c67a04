import { z } from 'zod';
import { SluiceError } from '../../core/errors.ts';
import { isReady, type Provider } from '../../core/provider.ts';
import { LONGEST_SPEECH, SPEECH_FORMATS } from '../../core/speech.ts';
import type { Deps, Handler } from '../deps.ts';
import type { JsonBody } from '../edge/body.ts';
import { clientKeys } from '../keys.ts';
import { extraOf, sendSpeech } from '../speech.ts';
import { validate } from '../validate.ts';
import { Name } from '../wire.ts';

/** `POST audio/speech`. Unknown fields go to the provider. */
export const SpeechBody = z
  .looseObject({
    input: z.string().min(1).describe(`What to read aloud, at most ${LONGEST_SPEECH} characters`),
    model: Name.nullish().describe("A model that speaks, a provider's name, `provider/model` or `provider:model`"),
    provider: Name.nullish(),
    voice: z
      .union([Name, z.looseObject({ id: Name })])
      .nullish()
      .describe("One of the provider's voices"),
    response_format: z.enum(SPEECH_FORMATS).nullish(),
    speed: z.number().min(0.25).max(4).nullish(),
    language: z.string().max(64).nullish(),
    api_key: z.string().max(4_096).nullish(),
    stream_format: z.enum(['audio']).nullish(),
  })
  .describe('A text to read aloud');
type SpeechBody = z.infer<typeof SpeechBody>;

const KNOWN = Object.keys(SpeechBody.shape);

/** `POST audio/speech`: a text as audio, sent while the rest of it is still being spoken. */
export function audioSpeech(deps: Deps): Handler {
  return async (request, reply) => {
    const { value } = request.body as JsonBody;
    const body = validate(SpeechBody, value, 'invalid_field');
    const { provider: inPath } = request.params as { provider?: string };
    const { provider, model } = await choose(deps, body, inPath);
    const voice = typeof body.voice === 'object' ? body.voice?.id : body.voice;
    const wish = {
      provider,
      text: body.input,
      format: body.response_format ?? undefined,
      keys: clientKeys(request, body.api_key),
      extra: extraOf(value, KNOWN),
      ...(voice ? { voice } : {}),
      ...(body.speed ? { speed: body.speed } : {}),
      ...(body.language ? { language: body.language } : {}),
      ...(model ? { model } : {}),
    };
    return sendSpeech(request, reply, deps, wish, 'no-store');
  };
}

interface Choice {
  readonly provider: Provider;
  /** Its own name for the model; absent: its default. */
  readonly model?: string;
}

/** An explicit provider, an alias, a model that names a provider, one that somebody offers, or whoever speaks at all. */
async function choose(deps: Deps, body: SpeechBody, inPath: string | undefined): Promise<Choice> {
  const { catalog } = deps.router;
  const { aliases, defaultProvider } = deps.config();
  const [model = ''] = aliases.get(body.model ?? '') ?? [body.model ?? ''];
  const named = inPath ?? body.provider ?? '';
  const meant = qualified(deps, model);
  if (named !== '') {
    const provider = catalog.provider(named);
    if (provider === undefined) throw notFound('provider', named);
    return meant?.provider === provider ? meant : { provider, model };
  }
  if (meant !== undefined) return meant;
  if (model !== '') {
    const provider = (await catalog.offering(model)).find(speaks);
    if (provider === undefined) throw notFound('model', model);
    return { provider, model };
  }
  const preferred = catalog.provider(defaultProvider ?? '');
  if (preferred !== undefined && speaks(preferred)) return { provider: preferred };
  for (const provider of catalog.providers.filter((each) => speaks(each) && isReady(each))) {
    const { models } = await catalog.offer(provider);
    if (models.some(({ type }) => type === 'speech')) return { provider };
  }
  throw new SluiceError('not_supported', 'No provider reads texts aloud.');
}

/** `provider`, `provider:model` or `provider/model`. */
function qualified(deps: Deps, name: string): Choice | undefined {
  const { catalog } = deps.router;
  const whole = catalog.provider(name);
  if (whole !== undefined) return { provider: whole };
  for (const separator of [':', '/']) {
    const at = name.indexOf(separator);
    const provider = at > 0 ? catalog.provider(name.slice(0, at)) : undefined;
    if (provider !== undefined) return { provider, model: name.slice(at + 1) };
  }
  return undefined;
}

function speaks(provider: Provider): boolean {
  return provider.speech !== undefined;
}

function notFound(param: 'provider' | 'model', name: string): SluiceError {
  return param === 'provider'
    ? new SluiceError('provider_not_found', `Provider '${name}' not found. GET /v1/providers lists what there is.`, {
        param,
      })
    : new SluiceError('model_not_found', `No provider reads aloud with the model '${name}'.`, { param });
}
