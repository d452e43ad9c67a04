import { type CatalogState, type Choice, fits, type ModelEntry, type Offer, offersOf } from './catalog.ts';

/** What a model can do, as the lists of models call it. */
export type Ability = 'vision' | 'image' | 'audio' | 'video' | 'tools' | 'reasoning';

/** So many at once: nobody reads more, and typing narrows them down. */
const MOST = 200;

/** A row of the picker: a model, or a provider that would have some for whoever has a key. */
export interface PickerRow extends Choice {
  readonly kind: 'model' | 'key';
  readonly label: string;
  readonly providerLabel?: string;
  readonly entry?: ModelEntry;
}

/** Rows under one title. `keys`: providers that wait for a key. */
export interface PickerGroup {
  readonly kind: 'favourites' | 'recent' | 'provider' | 'keys';
  /** Of the provider. */
  readonly label?: string;
  readonly rows: readonly PickerRow[];
}

/** What a person looks for. `favourites` and `recent` are names as `nameOf` makes them. */
export interface PickerWish {
  readonly search: string;
  readonly abilities: readonly Ability[];
  readonly favourites: readonly string[];
  readonly recent: readonly string[];
}

/** `provider/model`, as favourites and recent ones are kept. */
export function nameOf({ provider, model }: Choice): string {
  return `${provider}/${model}`;
}

/** What fits a wish: favourites, what was used lately, the rest by provider, and who only waits for a key. Each model once. */
export function pickerGroups(catalog: CatalogState, wish: PickerWish): readonly PickerGroup[] {
  const { search, abilities, favourites, recent } = wish;
  const fitting = offersOf(catalog).filter(
    (offer) => fits(offer, search) && abilities.every((ability) => offer.entry[ability]),
  );
  const byName = new Map(fitting.map((offer) => [nameOf(offer), offer]));
  const take = (names: readonly string[]): readonly Offer[] =>
    names.flatMap((name) => {
      const offer = byName.get(name);
      byName.delete(name);
      return offer ?? [];
    });
  const groups: PickerGroup[] = [
    { kind: 'favourites', rows: take(favourites).map(toRow) },
    { kind: 'recent', rows: take(recent).map(toRow) },
  ];
  for (const [label, offers] of Map.groupBy([...byName.values()].slice(0, MOST), (offer) => offer.providerLabel)) {
    groups.push({ kind: 'provider', label, rows: offers.map(toRow) });
  }
  if (abilities.length === 0) groups.push({ kind: 'keys', rows: waitingFor(catalog, search) });
  return groups.filter(({ rows }) => rows.length > 0);
}

function toRow({ provider, model, entry, providerLabel }: Offer): PickerRow {
  return { kind: 'model', provider, model, label: entry.label, providerLabel, entry };
}

/** Providers that have no models as long as nobody gives them a key. */
function waitingFor({ providers, models }: CatalogState, search: string): readonly PickerRow[] {
  const words = search.trim().toLowerCase().split(/\s+/);
  return providers
    .filter(
      ({ name, label, auth, active_by_default: isOn, cookie_domain: cookies }) =>
        auth &&
        !isOn &&
        cookies === null &&
        (models[name]?.length ?? 0) === 0 &&
        words.every((word) => `${name} ${label}`.toLowerCase().includes(word)),
    )
    .map(({ name, label }): PickerRow => ({ kind: 'key', provider: name, model: '', label }))
    .sort((a, b) => a.label.localeCompare(b.label));
}

/** In `Settings.more`: what was chosen lately, the last first. */
export const RECENT = 'recentModels';
const MOST_RECENT = 5;

/** The models chosen lately, now that `choice` is; one without a model changes nothing. */
export function withRecent(more: Readonly<Record<string, unknown>>, choice: Choice): readonly string[] {
  const before = recentOf(more);
  if (choice.model === '') return before;
  const name = nameOf(choice);
  return [name, ...before.filter((each) => each !== name)].slice(0, MOST_RECENT);
}

const NONE: readonly string[] = [];

/** The models chosen lately as `provider/model`, the last first. */
export function recentOf(more: Readonly<Record<string, unknown>>): readonly string[] {
  const kept = more[RECENT];
  return Array.isArray(kept) ? (kept as readonly string[]) : NONE;
}
