import { byId, el } from './dom.js';

const MOST = 300;
const AUTOMATIC = { provider: '', model: '', label: 'Automatic' };

let groups = [];
let choose = () => {};

/** All chat models as `{ provider, model, label, vision }`, in groups by provider. */
export function setCatalog({ providers, models }) {
  const labels = new Map(providers.map(({ name, label }) => [name, label]));
  groups = Object.entries(models).map(([provider, entries]) => ({
    label: labels.get(provider) ?? provider,
    entries: entries
      .filter(({ type = 'chat' }) => type === 'chat')
      .map(({ id, label, vision, default: first }) => ({ provider, model: id, label: label || id, vision, first })),
  }));
}

/** The model like `wish` if it is still offered, else the best there is. */
export function findChoice(wish) {
  const all = groups.flatMap(({ entries }) => entries);
  const same = all.find(({ provider, model }) => provider === wish?.provider && model === wish?.model);
  if (same ?? (wish && !wish.provider)) return same ?? wish;
  const [group] = groups.filter(({ entries }) => entries.length > 0);
  return group?.entries.find(({ first }) => first) ?? group?.entries[0] ?? AUTOMATIC;
}

/** Opens the list; `onChoice` gets what is picked. */
export function openPicker(current, onChoice) {
  choose = (entry) => {
    byId('picker').close();
    onChoice(entry);
  };
  byId('picker-search').value = '';
  show(current);
  byId('picker').showModal();
  marked()?.scrollIntoView({ block: 'center' });
}

const options = () => [...byId('picker-list').querySelectorAll('[role=option]')];
const marked = () => byId('picker-list').querySelector('.marked');

function show(current) {
  const words = byId('picker-search').value.trim().toLowerCase().split(/\s+/);
  const fits = (text) => words.every((word) => text.toLowerCase().includes(word));
  let room = MOST;
  const found = groups.flatMap(({ label, entries }) => {
    const fitting = entries.filter((entry) => fits(`${label} ${entry.label} ${entry.model}`));
    const shown = fitting.slice(0, room);
    room -= shown.length;
    if (shown.length === 0) return [];
    const more = fitting.length - shown.length;
    const title = el('div', { className: 'group' }, label, more > 0 && ` (${more} more: type to narrow down)`);
    return [el('div', { role: 'group', ariaLabel: label }, title, ...shown.map((entry) => option(entry, current)))];
  });
  const typed = byId('picker-search').value.trim();
  if (fits('automatic')) found.unshift(option(AUTOMATIC, current, 'the first provider that can answer'));
  if (found.length === 0)
    found.push(option({ provider: '', model: typed, label: typed }, current, 'ask for this name'));
  byId('picker-list').replaceChildren(...found);
  mark(byId('picker-list').querySelector('[aria-selected=true]') ?? options()[0]);
}

function option(entry, current, hint = entry.vision && 'sees images') {
  const selected = entry.provider === current?.provider && entry.model === current?.model;
  const text = [el('span', {}, entry.label), hint && el('small', {}, hint)].filter(Boolean);
  const properties = {
    role: 'option',
    className: 'option',
    ariaSelected: String(selected),
    onclick: () => choose(entry),
  };
  return el('div', properties, ...text);
}

function mark(element) {
  marked()?.classList.remove('marked');
  if (!element) return;
  for (const [index, each] of options().entries()) each.id = `option-${index}`;
  element.classList.add('marked');
  byId('picker-search').setAttribute('aria-activedescendant', element.id);
}

byId('picker-search').addEventListener('input', () => show());
byId('picker-search').addEventListener('keydown', (event) => {
  if (event.key === 'Enter') marked()?.click();
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step) {
    const all = options();
    mark(all.at((all.indexOf(marked()) + step) % all.length));
    marked()?.scrollIntoView({ block: 'nearest' });
  }
  if (step || event.key === 'Enter') event.preventDefault();
});
byId('picker').addEventListener('click', (event) => {
  if (event.target === event.currentTarget) event.currentTarget.close();
});
