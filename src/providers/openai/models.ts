import type { Model } from '../../core/model.ts';
import { capabilitiesOf, withoutFalse } from './capabilities.ts';
import { asEntry, cleanText, type Entry, saidOf, saysNoChat } from './entry.ts';

export { capabilitiesOf };

/** Listings are shown and searched as a whole, so one without end must not fill the memory. */
const MAX_MODELS = 10_000;

/**
 * The models in an upstream's answer to `GET /models`, in its order: OpenAI's `{data: […]}`, a bare array (Together),
 * `{models: […]}` (Ollama, xAI, LM Studio) or `{result: […]}` (Cloudflare). Left out are entries without a usable name,
 * further ones of the same name, models that say that they serve no kind of request we know, and everything after the
 * first 10,000. What the upstream says about a model wins over what its name suggests. Anything but a listing gives no
 * models.
 */
export function parseModels(body: unknown): Model[] {
  const models = new Map<string, Model>();
  for (const item of itemsOf(body)) {
    const entry = asEntry(item) ?? { id: item };
    const id = idOf(entry);
    if (id === undefined || models.has(id)) continue;
    const model = toModel(id, entry);
    if (model === undefined) continue;
    models.set(id, model);
    if (models.size === MAX_MODELS) break;
  }
  return [...models.values()];
}

function itemsOf(body: unknown): readonly unknown[] {
  if (Array.isArray(body)) return body;
  const listing = asEntry(body);
  // llama.cpp sends `models` too, but `data` has the names that requests use.
  return [listing?.data, listing?.models, listing?.result].find((list) => Array.isArray(list)) ?? [];
}

function idOf(entry: Entry): string | undefined {
  if (isCloudflare(entry)) return cleanText(entry.name);
  return cleanText(entry.id ?? entry.model ?? entry.name ?? entry.key);
}

/** Cloudflare's `id` is a number of its own; requests use the name, which starts with @. */
function isCloudflare(entry: Entry): boolean {
  return typeof entry.name === 'string' && entry.name.startsWith('@');
}

function toModel(id: string, entry: Entry): Model | undefined {
  const said = saidOf(entry);
  const guessed = capabilitiesOf(id);
  const guessedType = guessed.type ?? 'chat';
  if (said.type === undefined && guessedType === 'chat' && saysNoChat(entry)) return undefined;
  // A guess about another kind of model says nothing about this one.
  const guess = said.type === undefined || said.type === guessedType ? guessed : {};
  return { id, ...labelOf(id, entry), ...withoutFalse({ ...guess, ...said }) };
}

function labelOf(id: string, entry: Entry): Pick<Model, 'label'> {
  const label = cleanText(entry.display_name) ?? cleanText(entry.title) ?? cleanText(entry.name);
  return label === undefined || label === id ? {} : { label };
}
