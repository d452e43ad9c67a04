import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { choiceOf, choose } from '../../actions/chats.ts';
import { Icon, type IconName } from '../../components/Icon.tsx';
import { Popover } from '../../components/Popover.tsx';
import { type Key, t } from '../../i18n/index.ts';
import { app } from '../../state/app.ts';
import { AUTOMATIC, type Choice, findOffer, fits, type ModelEntry, type Offer, offersOf } from '../../state/catalog.ts';
import type { Chat } from '../../state/model.ts';
import { useApp } from '../../state/use.ts';

/** So many at once: nobody reads more, and typing narrows them down. */
const MOST = 200;

export function ModelPicker({ chat }: { readonly chat: Chat | undefined }) {
  const [isOpen, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const catalog = useApp((state) => state.catalog);
  useApp((state) => state.settings.choice);
  const choice = choiceOf(chat);
  const offer = findOffer(catalog, choice);
  const isWaiting = catalog.status === 'loading' && choice.model === '';
  const name = choice.model === '' ? t('models.automatic') : (offer?.entry.label ?? choice.model);
  return (
    <>
      <button
        ref={button}
        type="button"
        id="model"
        class="model-button"
        aria-haspopup="dialog"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        <span class="hidden">{t('models.model')}</span>
        <span id="model-name">{isWaiting ? t('models.loading') : name}</span>
        {offer !== undefined && <small>{offer.providerLabel}</small>}
        <Icon name="down" size={14} />
      </button>
      {isOpen && (
        <Popover anchor={button} label={t('shell.chooseModel')} class="picker" onClose={() => setOpen(false)}>
          <PickerList
            current={choice}
            onChoice={(next) => {
              setOpen(false);
              choose(chat, next);
              document.querySelector<HTMLElement>('#prompt')?.focus();
            }}
          />
        </Popover>
      )}
    </>
  );
}

export interface PickerListProps {
  readonly current: Choice;
  readonly onChoice: (choice: Choice) => void;
}

interface Row extends Choice {
  readonly label: string;
  readonly hint?: string;
  readonly entry?: ModelEntry;
}

/** A field to search in, and the models that fit: https://www.w3.org/WAI/ARIA/apg/patterns/combobox/ */
export function PickerList({ current, onChoice }: PickerListProps) {
  const [search, setSearch] = useState('');
  const catalog = useApp((state) => state.catalog);
  const favourites = useApp((state) => state.settings.favourites);
  const groups = useMemo(() => groupsFor(offersOf(catalog), favourites, search), [catalog, favourites, search]);
  const rows = groups.flatMap(({ rows }) => rows);
  const chosen = rows.findIndex((row) => row.provider === current.provider && row.model === current.model);
  const [marked, setMarked] = useState(Math.max(0, chosen));
  const list = useRef<HTMLDivElement>(null);
  const at = Math.min(marked, rows.length - 1);
  useEffect(() => {
    list.current?.querySelector('.is-marked')?.scrollIntoView({ block: 'nearest' });
  }, [at]);

  const onKey = (event: KeyboardEvent): void => {
    const row = rows[at];
    if (event.key === 'ArrowDown') setMarked((at + 1) % rows.length);
    else if (event.key === 'ArrowUp') setMarked((at - 1 + rows.length) % rows.length);
    else if (event.key === 'Enter' && row !== undefined) onChoice(row);
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
              const isChosen = row.provider === current.provider && row.model === current.model;
              return (
                <PickerRow
                  key={`${row.provider}/${row.model}`}
                  row={row}
                  id={`picker-${own}`}
                  isMarked={own === at}
                  isChosen={isChosen}
                  isFavourite={favourites.includes(nameOf(row))}
                  onChoice={() => onChoice({ provider: row.provider, model: row.model })}
                  onMark={() => setMarked(own)}
                />
              );
            })}
          </div>
        ))}
        {catalog.status === 'failed' && <p class="problem">{t('errors.unreachable')}</p>}
      </div>
    </>
  );
}

interface Group {
  readonly label: string;
  readonly rows: readonly Row[];
}

function groupsFor(offers: readonly Offer[], favourites: readonly string[], search: string): readonly Group[] {
  const fitting = offers.filter((offer) => fits(offer, search));
  const groups: Group[] = [];
  const automatic = t('models.automatic');
  if (`${automatic} automatic`.toLowerCase().includes(search.trim().toLowerCase())) {
    groups.push({ label: 'Sluice', rows: [{ ...AUTOMATIC, label: automatic, hint: t('models.automaticHint') }] });
  }
  const loved = fitting.filter((offer) => favourites.includes(nameOf(offer)));
  if (loved.length > 0) groups.push({ label: t('models.favourites'), rows: loved.map(toRow) });
  const rest = fitting.filter((offer) => !favourites.includes(nameOf(offer))).slice(0, MOST);
  for (const [label, members] of Map.groupBy(rest, ({ providerLabel }) => providerLabel)) {
    groups.push({ label, rows: members.map(toRow) });
  }
  const typed = search.trim();
  if (groups.length === 0) {
    groups.push({
      label: t('models.notListed'),
      rows: [{ provider: '', model: typed, label: typed, hint: t('models.askForName') }],
    });
  }
  return groups;
}

function toRow({ provider, model, entry, providerLabel }: Offer): Row {
  return { provider, model, label: entry.label, hint: providerLabel, entry };
}

function nameOf({ provider, model }: Choice): string {
  return `${provider}/${model}`;
}

interface PickerRowProps {
  readonly row: Row;
  readonly id: string;
  readonly isMarked: boolean;
  readonly isChosen: boolean;
  readonly isFavourite: boolean;
  readonly onChoice: () => void;
  readonly onMark: () => void;
}

function PickerRow({ row, id, isMarked, isChosen, isFavourite, onChoice, onMark }: PickerRowProps) {
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

const ABILITIES: readonly (readonly [
  keyof ModelEntry & ('vision' | 'image' | 'audio' | 'video' | 'tools' | 'reasoning'),
  IconName,
  Key,
])[] = [
  ['vision', 'eye', 'models.vision'],
  ['image', 'image', 'models.image'],
  ['audio', 'speaker', 'models.audio'],
  ['video', 'image', 'models.video'],
  ['tools', 'tool', 'models.tools'],
  ['reasoning', 'thought', 'models.reasoning'],
];

/** What a model can do, how much it can read, what it costs. */
function Facts({ entry }: { readonly entry: ModelEntry }) {
  const price = entry.price?.output;
  return (
    <span class="picker-facts">
      {ABILITIES.filter(([name]) => entry[name]).map(([name, icon, label]) => (
        <span key={name} role="img" aria-label={t(label)} title={t(label)}>
          <Icon name={icon} size={14} />
        </span>
      ))}
      {entry.context_length !== undefined && (
        <small title={t('models.context', { count: entry.context_length })}>{short(entry.context_length)}</small>
      )}
      {price !== undefined && <small title={t('models.price')}>${price}</small>}
    </span>
  );
}

/** 128000 → 128k */
function short(tokens: number): string {
  if (tokens >= 1_000_000) return `${Math.round(tokens / 100_000) / 10}M`;
  return tokens >= 1_000 ? `${Math.round(tokens / 1_000)}k` : String(tokens);
}
