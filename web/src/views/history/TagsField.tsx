import type { RefObject } from 'preact';
import { Icon } from '../../components/Icon.tsx';
import { t } from '../../i18n/index.ts';
import { cleanName } from '../../state/history-filter.ts';

interface TagsFieldProps {
  readonly tags: readonly string[];
  /** Those of other chats, to choose from. */
  readonly others: readonly string[];
  /** Where the next one is written: what is still in it when all is saved is meant as well. */
  readonly field: RefObject<HTMLInputElement | null>;
  readonly change: (tags: readonly string[]) => void;
  readonly onTyping: (isTyping: boolean) => void;
}

/** Tags, each with a button that removes it, and a field for the next one: Enter or a comma ends it. */
export function TagsField({ tags, others, field, change, onTyping }: TagsFieldProps) {
  const addTag = (name: string): void => {
    const tag = cleanName(name);
    if (tag !== '' && !tags.includes(tag)) change([...tags, tag]);
    if (field.current !== null) field.current.value = '';
    onTyping(false);
    field.current?.focus();
  };
  return (
    <div class="field">
      <span id="tags-label">{t('history.tags')}</span>
      {tags.length > 0 && (
        <ul class="tag-list" aria-labelledby="tags-label">
          {tags.map((tag) => (
            <li key={tag} class="tag">
              <span dir="auto">{tag}</span>
              <button
                type="button"
                aria-label={t('history.removeTag', { tag })}
                onClick={() => {
                  change(tags.filter((each) => each !== tag));
                  field.current?.focus();
                }}
              >
                <Icon name="close" size={12} />
              </button>
            </li>
          ))}
        </ul>
      )}
      <input
        ref={field}
        list="tags"
        autocomplete="off"
        maxLength={60}
        dir="auto"
        aria-label={t('history.addTag')}
        placeholder={t('history.addTag')}
        onInput={(event) => onTyping(event.currentTarget.value !== '')}
        onKeyDown={(event) => {
          const name = event.currentTarget.value;
          if (cleanName(name) === '') return;
          if (event.key !== 'Enter' && event.key !== ',') return;
          event.preventDefault();
          addTag(name);
        }}
      />
      <datalist id="tags">
        {others.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </div>
  );
}
