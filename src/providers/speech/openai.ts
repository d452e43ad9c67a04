import { SluiceError } from '../../core/errors.ts';
import { isSpeechModel } from '../../core/model.ts';
import type { Provider } from '../../core/provider.ts';
import type { SpeechFormat, SpeechRequest } from '../../core/speech.ts';
import { open, type UpstreamResponse } from '../../outbound/body.ts';
import { noteRateLimits } from '../../outbound/rate-limits.ts';
import type { UpstreamClient } from '../../outbound/upstream.ts';
import { errorBody } from '../error-body.ts';
import { failureOfStatus } from '../openai/failure.ts';
import { begun } from './begun.ts';
import { spokenType } from './spoken-type.ts';

const FORMATS: readonly SpeechFormat[] = ['mp3', 'opus', 'wav', 'aac', 'flac', 'pcm'];
/** OpenAI insists on a voice; upstreams with other ones say which when they refuse it. */
const DEFAULT_VOICE = 'alloy';
/** Of all speech models of OpenAI, and of those that take instructions (its API's reference, `createSpeech`). */
const OLDER_VOICES = [DEFAULT_VOICE, 'ash', 'coral', 'echo', 'fable', 'nova', 'onyx', 'sage', 'shimmer'];
const VOICES = [...OLDER_VOICES, 'ballad', 'cedar', 'marin', 'verse'];
/** They make the answer something else than audio. */
const NOT_PASSED_ON: ReadonlySet<string> = new Set(['stream', 'stream_format']);

/** The same provider, which now also speaks through the `/audio/speech` of its upstream, whose bytes are passed on as they come. */
export function withOpenAiSpeech(provider: Provider, client: UpstreamClient): Provider {
  const { relay } = provider;
  if (relay === undefined) return provider;
  let listed: string | undefined;

  const speaking: Pick<Provider, 'speech' | 'speechFormats'> = {
    speechFormats: FORMATS,

    async speech(request, call) {
      let { model } = request;
      if (model === undefined) {
        listed ??= (await provider.models(call.credentials, call.signal)).find(isSpeechModel)?.id;
        model = listed;
      }
      if (model === undefined) {
        throw new SluiceError(
          'not_supported',
          `${provider.label} lists no model that speaks; name one in the request.`,
        );
      }
      const target = relay.target('/audio/speech', call.credentials);
      // Not JSON: that would be an error, and the status says so.
      const headers = { ...target.headers, accept: 'audio/*, application/octet-stream' };
      const body = JSON.stringify(toBody(request, model));
      const response = await open(client, { ...target, headers, method: 'POST', body }, call.signal);
      noteRateLimits(call, response.headers);
      if (response.status !== 200) throw await failure(response, provider);
      const mimeType = spokenType(response.headers['content-type'], request.format, provider.label);
      if (mimeType instanceof SluiceError) {
        await response.body.return();
        throw mimeType;
      }
      return { mimeType, body: await begun(response.body, provider.label) };
    },
  };
  return Object.assign(provider, speaking);
}

/** The voices of a model of OpenAI, by its name, whoever offers it; none where only the upstream knows them. */
export function voicesOfModel(id: string): readonly string[] {
  if (/(?:^|\/)tts-1(?:-|$)/.test(id)) return OLDER_VOICES;
  return /(?:^|\/)gpt-4o-mini-tts/.test(id) ? VOICES : [];
}

function toBody(request: SpeechRequest, model: string): Record<string, unknown> {
  const { text, voice, isOwnVoice, format, speed, language, extra } = request;
  return {
    ...Object.fromEntries(Object.entries(extra).filter(([name]) => !NOT_PASSED_ON.has(name))),
    model,
    input: text,
    voice: isOwnVoice === true ? { id: voice } : (voice ?? DEFAULT_VOICE),
    response_format: format,
    ...(speed === undefined ? {} : { speed }),
    ...(language === undefined ? {} : { language }),
  };
}

async function failure(response: UpstreamResponse, { label }: Provider): Promise<SluiceError> {
  const body = await errorBody(response.body);
  // Most upstreams that chat have no such path, and say so in many ways.
  const isMissing = response.status === 404 || response.status === 405;
  if (isMissing && !/model|voice/i.test(body.toString('utf8'))) {
    return new SluiceError('not_supported', `${label} does not read texts aloud.`);
  }
  return failureOfStatus(response.status, response.headers, body, 'same');
}
