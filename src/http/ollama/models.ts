import { createHash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { SluiceError } from '../../core/errors.ts';
import { isChatModel, type Model } from '../../core/model.ts';
import type { Deps, Handler } from '../deps.ts';
import { bodyValue } from '../edge/body.ts';
import { type Found, findModel } from '../find-model.ts';
import { validate } from '../validate.ts';
import { NamedBody } from './wire.ts';

type Json = Record<string, unknown>;

/** The version of Ollama whose API this is like: clients refuse to work with one that is too old. */
const LIKE_VERSION = '0.12.11';

/** What clients put behind names without a tag. */
const LATEST = ':latest';

/** When the listing was last changed, as far as we can tell. */
const STARTED = new Date().toISOString();

/** `GET /api/tags`: every model that can be asked or embeds, then the aliases. */
export function listTags(deps: Deps): Handler {
  return async () => {
    const tags = new Map<string, Json>();
    for (const { models } of await deps.router.catalog.list()) {
      for (const model of models)
        if (isListed(model) && !tags.has(model.id)) tags.set(model.id, tagOf(model.id, model));
    }
    for (const alias of deps.config().aliases.keys()) {
      // Whoever does not answer now keeps nobody from the list.
      const found = await modelToShow(alias, deps).catch(() => undefined);
      tags.set(alias, tagOf(alias, found?.model ?? { id: alias }));
    }
    return { models: [...tags.values()] };
  };
}

/** `POST /api/show`: what a model can do. */
export function showModel(deps: Deps): Handler {
  return async (request) => {
    const asked = nameIn(request);
    const found = await modelToShow(await modelNamed(asked, deps), deps);
    if (found === undefined) {
      throw new SluiceError('model_not_found', `model '${asked}' not found. GET /api/tags lists what there is.`, {
        param: 'model',
      });
    }
    const { model } = found;
    const details = detailsOf(model);
    return {
      modelfile: `# ${found.provider.label}\nFROM ${model.id}\n`,
      parameters: '',
      template: '{{ .Prompt }}',
      details,
      model_info: {
        'general.architecture': details.family,
        'general.basename': model.label ?? model.id,
        ...(model.contextLength === undefined ? {} : { [`${details.family}.context_length`]: model.contextLength }),
      },
      capabilities: capabilitiesOf(model),
      modified_at: STARTED,
    };
  };
}

/** `GET /api/ps`: nothing is loaded on demand, so nothing is listed as loaded. */
export function listRunning(): Handler {
  return async () => ({ models: [] });
}

/** `GET /api/version` */
export function version(): Handler {
  return async () => ({ version: LIKE_VERSION });
}

/** `POST /api/pull`: what can be asked is there already. Clients pull each model whose name the list has in other words. */
export function pullModel(deps: Deps): Handler {
  return async (request) => {
    const name = await modelNamed(nameIn(request), deps);
    if ((await modelToShow(name, deps)) === undefined) throw notHere();
    return { status: 'success' };
  };
}

/** What has to do with files of models, of which there are none. */
export function notManaged(): Handler {
  return async () => {
    throw notHere();
  };
}

function notHere(): SluiceError {
  return new SluiceError(
    'not_supported',
    'Models are not managed through this API: what providers offer is there, see GET /api/tags. Add providers in sluice.yaml.',
  );
}

function nameIn(request: FastifyRequest): string {
  const { model, name } = validate(NamedBody, bodyValue(request), 'invalid_request');
  const asked = model ?? name ?? '';
  if (asked === '') throw new SluiceError('invalid_request', "'model' is required.", { param: 'model' });
  return asked;
}

/** The name of a model without the tag that clients add, unless an alias or somebody's model has just that name. */
export async function modelNamed(name: string, { config, router: { catalog } }: Deps): Promise<string> {
  if (!name.endsWith(LATEST) || name === LATEST || config().aliases.has(name)) return name;
  return (await catalog.offering(name)).length > 0 ? name : name.slice(0, -LATEST.length);
}

/** Also one that is not listed, where the name says whose it is: chats are asked of it, and its own name tells what it can do. */
async function modelToShow(name: string, deps: Deps): Promise<Found | undefined> {
  const found = await findModel(deps, name);
  if (found !== undefined) return found;
  for (const each of [...(deps.config().aliases.get(name) ?? []), name]) {
    const meant = await unlisted(each, deps);
    if (meant !== undefined) return meant;
  }
  return undefined;
}

/** What `provider/model` names, or a provider's own name, which stands for its default model. */
async function unlisted(name: string, { router: { catalog } }: Deps): Promise<Found | undefined> {
  const named = catalog.provider(name);
  const { provider = named, model } = catalog.qualified(name) ?? {};
  if (provider?.chat === undefined) return undefined;
  return { provider, model: catalog.look(provider, model ?? (await catalog.defaultModel(provider, {}))) };
}

function isListed(model: Model): boolean {
  return isChatModel(model) || model.type === 'embedding';
}

function tagOf(name: string, model: Model): Json {
  return {
    name,
    model: name,
    modified_at: STARTED,
    size: 0,
    digest: createHash('sha256').update(name).digest('hex'),
    details: detailsOf(model),
  };
}

/** As much as a model's name tells. */
function detailsOf({ id }: Model): {
  readonly parent_model: string;
  readonly format: string;
  readonly family: string;
  readonly families: readonly string[];
  readonly parameter_size: string;
  readonly quantization_level: string;
} {
  const base = (id.split('/').at(-1) ?? id).toLowerCase();
  const family = /[a-z]+/.exec(base)?.[0] ?? 'unknown';
  return {
    parent_model: '',
    format: 'gguf',
    family,
    families: [family],
    parameter_size: /(?:^|[^a-z0-9.])(\d+(?:\.\d+)?[bm])(?![a-z0-9])/.exec(base)?.[1]?.toUpperCase() ?? 'unknown',
    quantization_level:
      /(?:^|[^a-z0-9])(i?q\d(?:_[a-z0-9]+)*|fp?16|bf16|fp8|f32)(?![a-z0-9])/.exec(base)?.[1]?.toUpperCase() ??
      'unknown',
  };
}

function capabilitiesOf(model: Model): readonly string[] {
  if (model.type === 'embedding' || model.type === 'image') return [model.type];
  return [
    'completion',
    ...(model.vision === true ? ['vision'] : []),
    ...(model.tools === true ? ['tools'] : []),
    ...(model.reasoning === true ? ['thinking'] : []),
    ...(model.audio === true ? ['audio'] : []),
  ];
}
