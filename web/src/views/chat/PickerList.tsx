import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Icon, type IconName } from '../../components/Icon.tsx';
import { ProvidersLink } from '../../components/ProvidersLink.tsx';
import type { Key } from '../../i18n/dictionary.ts';
import { region, spoken, t } from '../../i18n/index.ts';
import { app } from '../../state/app.ts';
import { AUTOMATIC, type Choice, hasNone, type ModelEntry } from '../../state/catalog.ts';
import { type Ability, nameOf, type PickerGroup, type PickerRow, pickerGroups, recentOf } from '../../state/picker.ts';
import { useApp } from '../../state/use.ts';

export interface PickerListProps {
  readonly current: Choice;
  readonly onChoice: (choice: Choice) => void;
  readonly close: () => void;
}

interface Shown {
  readonly label: string;
  readonly rows: readonly (PickerRow & { readonly hint?: string })[];
}

/** A field to search in, and the models that fit: https://www.w3.org/WAI/ARIA/apg/patterns/combobox/ */
export function PickerList({ current, onChoice, close }: PickerListProps) {
  const [search, setSearch] = useState('');
  const [abilities, setAbilities] = useState<readonly Ability[]>([]);
  const catalog = useApp((state) => state.catalog);
  const favourites = useApp((state) => state.settings.favourites);
  const more = useApp((state) => state.settings.more);
  const language = spoken();
  const groups = useMemo(
    () => toShown(pickerGroups(catalog, { search, abilities, favourites, recent: recentOf(more) }), search, abilities),
    [catalog, favourites, more, search, abilities, language],
  );
  const rows = groups.flatMap((group) => group.rows);
  const chosen = rows.findIndex((row) => isSame(row, current));
  const [marked, setMarked] = useState(Math.max(0, chosen));
  const list = useRef<HTMLDivElement>(null);
  const at = Math.min(marked, rows.length - 1);
  useEffect(() => {
    list.current?.querySelector('.is-marked')?.scrollIntoView({ block: 'nearest' });
  }, [at]);

  const take = (row: PickerRow): void => {
    if (row.kind === 'model') onChoice({ provider: row.provider, model: row.model });
    else {
      close();
      app.dispatch({ type: 'overlay/opened', name: 'key', about: row.provider });
    }
  };
  const onKey = (event: KeyboardEvent): void => {
    const row = rows[at];
    if (event.key === 'ArrowDown') setMarked((at + 1) % rows.length);
    else if (event.key === 'ArrowUp') setMarked((at - 1 + rows.length) % rows.length);
    else if (event.key === 'Enter' && row !== undefined) take(row);
    else return;
    event.preventDefault();
  };
  let index = -1;
  return (
    <>
      <div class="picker-search">
        <Icon name="search" />
        <input
          id="picker-search"
          data-first=""
          type="text"
          inputMode="search"
          role="combobox"
          aria-expanded="true"
          aria-controls="picker-list"
          aria-autocomplete="list"
          aria-activedescendant={at >= 0 ? `picker-${at}` : undefined}
          aria-label={t('models.search')}
          placeholder={t('models.search')}
          autocomplete="off"
          spellcheck={false}
          value={search}
          onInput={(event) => {
            setSearch(event.currentTarget.value);
            setMarked(0);
          }}
          onKeyDown={onKey}
        />
      </div>
      <Abilities
        wanted={abilities}
        change={(next) => {
          setAbilities(next);
          setMarked(0);
        }}
      />
      <div ref={list} id="picker-list" class="picker-list" role="listbox" aria-label={t('models.models')}>
        {groups.map(({ label, rows: members }) => (
          // biome-ignore lint/a11y/useSemanticElements: a fieldset may not stand in a listbox
          <div key={label} role="group" aria-label={label}>
            <div class="picker-group" aria-hidden="true">
              {label}
            </div>
            {members.map((row) => {
              index += 1;
              const own = index;
              return (
                <Row
                  key={`${row.kind} ${nameOf(row)}`}
                  row={row}
                  id={`picker-${own}`}
                  isMarked={own === at}
                  isChosen={isSame(row, current)}
                  isFavourite={favourites.includes(nameOf(row))}
                  onChoice={() => take(row)}
                  onMark={() => setMarked(own)}
                />
              );
            })}
          </div>
        ))}
        {catalog.status === 'failed' && <p class="problem">{t('errors.unreachable')}</p>}
      </div>
      <p class="picker-loading" role="status">
        {catalog.status === 'loading' && t('models.loading')}
      </p>
      {hasNone(catalog) && (
        <div class="picker-empty">
          <p class="problem">{t('welcome.noModels')}</p>
          <ProvidersLink onClick={close} />
        </div>
      )}
    </>
  );
}

function isSame(row: PickerRow, choice: Choice): boolean {
  return row.kind === 'model' && row.provider === choice.provider && row.model === choice.model;
}

/** With the words above the groups, and what is always there: the server's choice, and a name that no list has. */
function toShown(found: readonly PickerGroup[], search: string, abilities: readonly Ability[]): readonly Shown[] {
  const labels = {
    favourites: t('models.favourites'),
    recent: t('models.recent'),
    keys: t('models.waiting'),
    provider: '',
  };
  const groups: Shown[] = found.map(({ kind, label, rows }) => ({
    label: label ?? labels[kind],
    rows: kind === 'keys' ? rows.map((row) => ({ ...row, hint: t('models.enterKey') })) : rows,
  }));
  const automatic = t('models.automatic');
  const typed = search.trim();
  if (abilities.length === 0 && `${automatic} automatic`.toLowerCase().includes(typed.toLowerCase())) {
    const row = { kind: 'model', ...AUTOMATIC, label: automatic, hint: t('models.automaticHint') } as const;
    groups.unshift({ label: 'Sluice', rows: [row] });
  }
  if (typed !== '' && found.every(({ kind }) => kind === 'keys')) {
    const row = { kind: 'model', provider: '', model: typed, label: typed, hint: t('models.askForName') } as const;
    groups.push({ label: t('models.notListed'), rows: [row] });
  }
  return groups;
}

const ABILITIES: readonly (readonly [Ability, IconName, Key])[] = [
  ['vision', 'eye', 'models.vision'],
  ['image', 'image', 'models.image'],
  ['audio', 'speaker', 'models.audio'],
  ['video', 'play', 'models.video'],
  ['tools', 'tool', 'models.tools'],
  ['reasoning', 'thought', 'models.reasoning'],
];

interface AbilitiesProps {
  readonly wanted: readonly Ability[];
  readonly change: (wanted: readonly Ability[]) => void;
}

/** What the models shall be able to do, of what any can. */
function Abilities({ wanted, change }: AbilitiesProps) {
  const models = useApp((state) => state.catalog.models);
  const there = useMemo(() => {
    const all = Object.values(models).flat();
    return ABILITIES.filter(([ability]) => all.some((entry) => entry[ability]));
  }, [models]);
  if (there.length === 0) return null;
  return (
    <fieldset class="picker-abilities">
      <legend class="hidden">{t('models.abilities')}</legend>
      {there.map(([ability, icon, label]) => {
        const isOn = wanted.includes(ability);
        return (
          <button
            key={ability}
            type="button"
            class="toggle"
            aria-pressed={isOn}
            onClick={() => change(isOn ? wanted.filter((each) => each !== ability) : [...wanted, ability])}
          >
            <Icon name={icon} size={14} />
            <span>{t(label)}</span>
          </button>
        );
      })}
    </fieldset>
  );
}

interface RowProps {
  readonly row: PickerRow & { readonly hint?: string };
  readonly id: string;
  readonly isMarked: boolean;
  readonly isChosen: boolean;
  readonly isFavourite: boolean;
  readonly onChoice: () => void;
  readonly onMark: () => void;
}

function Row({ row, id, isMarked, isChosen, isFavourite, onChoice, onMark }: RowProps) {
  const { entry } = row;
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the keyboard moves in the field above, which points at this
    <div
      id={id}
      role="option"
      tabIndex={-1}
      class={`picker-row ${isMarked ? 'is-marked' : ''}`}
      aria-selected={isChosen}
      onClick={onChoice}
      onPointerMove={onMark}
    >
      {row.kind === 'key' && <Icon name="key" size={14} />}
      <span class="picker-name">
        <span>{row.label}</span>
        {entry === undefined && row.hint !== undefined && <small>{row.hint}</small>}
      </span>
      {entry !== undefined && <Facts entry={entry} />}
      {entry !== undefined && (
        // Not to be reached by Tab: options have no inner controls for a screen reader, so there is /favourite as well.
        <span
          class={`picker-star ${isFavourite ? 'is-on' : ''}`}
          title={t('models.favourite')}
          aria-hidden="true"
          onClick={(event) => {
            event.stopPropagation();
            app.dispatch({ type: 'settings/favourite', name: nameOf(row) });
          }}
        >
          <Icon name="star" />
        </span>
      )}
      {isChosen && <Icon name="check" />}
    </div>
  );
}

/** What a model can do, how much it can read, what it costs. */
function Facts({ entry }: { readonly entry: ModelEntry }) {
  const { price, context_length: context } = entry;
  const [input, output] = [dollars(price?.input), dollars(price?.output)];
  return (
    <span class="picker-facts">
      {ABILITIES.filter(([name]) => entry[name]).map(([name, icon, label]) => (
        <span key={name} role="img" aria-label={t(label)} title={t(label)}>
          <Icon name={icon} size={14} />
        </span>
      ))}
      {context !== undefined && <small title={t('models.context', { count: context })}>{short(context)}</small>}
      {price !== undefined && (
        <small class="picker-price" title={t('models.price', { input, output })}>
          {input} · {output}
        </small>
      )}
    </span>
  );
}

function dollars(amount: number | undefined): string {
  if (amount === undefined) return '–';
  return amount.toLocaleString(region(), {
    style: 'currency',
    currency: 'USD',
    currencyDisplay: 'narrowSymbol',
    minimumFractionDigits: amount === 0 || amount >= 10 ? 0 : 2,
    maximumFractionDigits: amount >= 10 ? 0 : amount >= 0.1 ? 2 : 3,
  });
}

/** 128000 → 128k */
function short(tokens: number): string {
  if (tokens >= 1_000_000) return `${Math.round(tokens / 100_000) / 10}M`;
  return tokens >= 1_000 ? `${Math.round(tokens / 1_000)}k` : String(tokens);
}
