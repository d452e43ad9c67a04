import { addressPart } from '../../core/address-part.ts';
import { dataUri } from '../../core/data-uri.ts';
import { SluiceError } from '../../core/errors.ts';
import type { ImageRequest, MadeImage } from '../../core/image.ts';
import { fieldText, membersOf } from '../../core/objects.ts';
import type { Provider } from '../../core/provider.ts';
import { kindOf } from '../../media/kind.ts';
import { askBytes, askJson } from './ask.ts';
import type { ImageProviderDeps } from './deps.ts';
import { drawing } from './describe.ts';
import { furtherFields, promptFor, sizeFor } from './fields.ts';

/** Fields of a request that it knows beyond the common ones. */
const TAKES = ['negative_prompt', 'enhance', 'safe', 'private', 'nologo', 'transparent', 'quality', 'guidance_scale'];
/** Its own default, without which ratios mean nothing. */
const PIXELS = 1024 * 1024;

/** The same provider, which now also draws: each picture of Pollinations is the answer to a GET request. */
export function withPollinations(provider: Provider, deps: ImageProviderDeps): Provider {
  const { relay, label } = provider;
  if (relay === undefined) return provider;
  const models = provider.models.bind(provider);

  const drawingParts: Pick<Provider, 'image' | 'models'> = {
    async models(credentials, signal) {
      const { origin, headers } = relay.target('', credentials);
      const [chat, listing] = await Promise.all([
        models(credentials, signal),
        // Without its pictures it is still good for chats.
        askJson(deps, { url: `${origin}/image/models`, method: 'GET', headers }, signal).catch(() => []),
      ]);
      const known = new Set(chat.map(({ id }) => id));
      const names = (Array.isArray(listing) ? listing : []).map((entry) => membersOf(entry)['name'] ?? entry);
      const drawn = names.filter((name): name is string => typeof name === 'string' && !known.has(name));
      return [...chat, ...drawn.map(drawing)];
    },

    async image(request, call, watcher) {
      const query = toQuery(request, furtherFields(request, call, TAKES));
      const { origin, headers } = relay.target('', call.credentials);
      const images: MadeImage[] = [];
      // It draws one at a time for everybody.
      for (let index = 0; index < request.n; index += 1) {
        if (request.n > 1) query.set('seed', String((request.seed ?? 42) + index));
        const url = `${origin}/image/${addressPart(promptFor(request))}?${query}`;
        const { bytes, contentType } = await askBytes(deps, { url, method: 'GET', headers }, call.signal);
        watcher.alive();
        const kind = kindOf(bytes);
        if (kind === undefined || kind.kind === 'audio') {
          throw new SluiceError(
            'upstream_invalid',
            `${label} answered with ${contentType || 'nothing'} instead of an image.`,
          );
        }
        const { mimeType } = kind;
        images.push({ kind: kind.kind, url: dataUri(mimeType, bytes), mimeType });
      }
      return { images };
    },
  };
  return Object.assign(provider, drawingParts);
}

function toQuery(request: ImageRequest, further: Readonly<Record<string, unknown>>): URLSearchParams {
  const { model, seed, images, mask, size, aspectRatio } = request;
  if (mask !== undefined) throw new SluiceError('not_supported', 'Pollinations changes whole pictures only.');
  if (images.some(({ url }) => !/^https?:/i.test(url))) {
    throw new SluiceError('not_supported', 'Pollinations takes pictures only by an address on the Internet.', {
      param: 'image',
    });
  }
  const query = new URLSearchParams(Object.entries(further).map(([name, value]) => [name, fieldText(value)]));
  if (model !== '') query.set('model', model);
  if (size !== undefined || aspectRatio !== undefined) {
    const { width, height } = sizeFor(request, PIXELS, 8);
    query.set('width', String(width));
    query.set('height', String(height));
  }
  if (seed !== undefined) query.set('seed', String(seed));
  if (images.length > 0) query.set('image', images.map(({ url }) => url).join('|'));
  return query;
}
