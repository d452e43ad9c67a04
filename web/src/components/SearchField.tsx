import { Icon } from './Icon.tsx';

export interface SearchFieldProps {
  readonly id: string;
  readonly label: string;
  readonly value: string;
  readonly onInput: (value: string) => void;
}

/** A field to search in. Escape empties it. */
export function SearchField({ id, label, value, onInput }: SearchFieldProps) {
  return (
    <div class="search-field">
      <Icon name="search" />
      <input
        id={id}
        type="search"
        dir="auto"
        aria-label={label}
        placeholder={label}
        autocomplete="off"
        spellcheck={false}
        value={value}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
    </div>
  );
}
