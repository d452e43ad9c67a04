import { Icon } from '../../components/Icon.tsx';
import { t } from '../../i18n/index.ts';
import { foldersOf, type HistoryFilter, tagsOf } from '../../state/history-filter.ts';
import type { Chat } from '../../state/model.ts';

export interface FiltersProps {
  readonly chats: readonly Chat[];
  readonly filter: HistoryFilter;
  readonly setFilter: (filter: HistoryFilter) => void;
}

/** In the list of folders: no name of a folder has a line break. */
const ALL = '\n';

/** Folders, tags and sharing, as far as there are any. */
export function Filters({ chats, filter, setFilter }: FiltersProps) {
  const folders = foldersOf(chats);
  const tags = tagsOf(chats);
  const hasShared = chats.some(({ share }) => share !== undefined);
  if (folders.length === 0 && tags.length === 0 && !hasShared) return null;
  const setFolder = (value: string): void => {
    const { folder: _, ...rest } = filter;
    setFilter(value === ALL ? rest : { ...rest, folder: value });
  };
  const toggle = (tag: string): void => {
    const isOn = filter.tags.includes(tag);
    setFilter({ ...filter, tags: isOn ? filter.tags.filter((each) => each !== tag) : [...filter.tags, tag] });
  };
  return (
    <div class="history-filters">
      {folders.length > 0 && (
        <div class="history-folder">
          <Icon name="folder" />
          <select
            aria-label={t('history.folder')}
            value={filter.folder ?? ALL}
            onChange={(event) => setFolder(event.currentTarget.value)}
          >
            <option value={ALL}>{t('history.allFolders')}</option>
            {folders.map(({ name, count }) => (
              <option key={name} value={name}>
                {name} ({count})
              </option>
            ))}
            <option value="">{t('history.noFolder')}</option>
          </select>
        </div>
      )}
      {tags.length > 0 && (
        <fieldset class="history-tags">
          <legend class="hidden">{t('history.tags')}</legend>
          {tags.map(({ name, count }) => (
            <button
              key={name}
              type="button"
              class="chip"
              aria-pressed={filter.tags.includes(name)}
              onClick={() => toggle(name)}
            >
              <Icon name="tag" size={13} />
              <span dir="auto">{name}</span>
              <small>{count}</small>
            </button>
          ))}
        </fieldset>
      )}
      {hasShared && (
        <button
          type="button"
          class="chip"
          aria-pressed={filter.isShared}
          onClick={() => setFilter({ ...filter, isShared: !filter.isShared })}
        >
          <Icon name="share" size={13} />
          {t('share.shared')}
        </button>
      )}
    </div>
  );
}
