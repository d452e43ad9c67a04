import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { isSpeechModel } from '../../core/model.ts';
import type { Provider } from '../../core/provider.ts';
import { voicesOfModel } from '../../providers/speech/index.ts';
import type { Offer } from '../../routing/catalog.ts';
import type { Deps, Handler, Route } from '../deps.ts';
import { offerOfOne, providerInPath } from './models.ts';

const Entry = z.object({ id: z.string(), name: z.string(), providers: z.array(z.string()) });
type Entry = z.infer<typeof Entry>;

/** OpenAI has no such lists; front ends ask servers of its format for them (Open WebUI, without any key). */
const SpeechModelList = z.object({ models: z.array(Entry) });
const VoiceList = z.object({ voices: z.array(Entry).describe('Those that are known; an upstream may have others') });

/** What there is for speech, of all providers or of the one in the path. */
export function audioListRoutes(deps: Deps): readonly Route[] {
  const common = { method: 'GET', tag: 'Compatible interface' } as const;
  const models = { ...common, answer: SpeechModelList, handler: listSpeechModels(deps) };
  const voices = { ...common, answer: VoiceList, handler: listVoices(deps) };
  return [
    { ...models, url: '/v1/audio/models', summary: 'The models that read texts aloud' },
    { ...models, url: '/api/:provider/audio/models', summary: 'The same, of one provider' },
    { ...voices, url: '/v1/audio/voices', summary: 'The voices that texts can be read with' },
    { ...voices, url: '/api/:provider/audio/voices', summary: 'The same, of one provider' },
  ];
}

function listSpeechModels(deps: Deps): Handler {
  return async (request) => ({
    models: eachOnce(await speakersFor(request, deps), ({ models }) =>
      models.filter(isSpeechModel).map(({ id, label }) => ({ id, name: label ?? id })),
    ),
  });
}

function listVoices(deps: Deps): Handler {
  return async (request) => ({ voices: eachOnce(await speakersFor(request, deps), voicesOf) });
}

/** Nobody waits for the listing of a provider that cannot speak. */
async function speakersFor(request: FastifyRequest, deps: Deps): Promise<readonly Offer[]> {
  const isOfOne = (request.params as { provider?: string }).provider !== undefined;
  if (!isOfOne) return deps.router.catalog.list(canSpeak);
  const provider = providerInPath(request, deps);
  return canSpeak(provider) ? [await offerOfOne(provider, request, deps)] : [];
}

function canSpeak({ speech }: Provider): boolean {
  return speech !== undefined;
}

function voicesOf({ provider, models }: Offer): readonly Omit<Entry, 'providers'>[] {
  if (provider.voices !== undefined) return provider.voices.map(({ id, label }) => ({ id, name: label }));
  const ids = models.filter(isSpeechModel).flatMap((model) => voicesOfModel(model.id));
  return [...new Set(ids)].map((id) => ({ id, name: id }));
}

function eachOnce(offers: readonly Offer[], entriesOf: (offer: Offer) => readonly Omit<Entry, 'providers'>[]): Entry[] {
  const found = new Map<string, Entry>();
  for (const offer of offers) {
    for (const entry of entriesOf(offer)) {
      const known = found.get(entry.id);
      if (known === undefined) found.set(entry.id, { ...entry, providers: [offer.provider.id] });
      else known.providers.push(offer.provider.id);
    }
  }
  return [...found.values()];
}
