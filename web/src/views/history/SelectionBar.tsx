import { deleteChats } from '../../actions/chats.ts';
import { IconButton } from '../../components/IconButton.tsx';
import { Menu } from '../../components/Menu.tsx';
import { t } from '../../i18n/index.ts';
import { openOrganise } from './actions.ts';
import { exportAs } from './chat-menu.ts';

export interface SelectionBarProps {
  readonly selected: readonly string[];
  /** All that are listed. */
  readonly listed: readonly string[];
  readonly setSelected: (ids: readonly string[]) => void;
}

/** What can be done with several chats at once. */
export function SelectionBar({ selected, listed, setSelected }: SelectionBarProps) {
  return (
    <div class="selection" role="toolbar" aria-label={t('history.selected', { count: selected.length })}>
      <IconButton icon="close" label={t('history.clearSelection')} onClick={() => setSelected([])} />
      <span class="selection-count" role="status">
        {t('history.selected', { count: selected.length })}
      </span>
      {selected.length < listed.length && (
        <button type="button" class="link-button" onClick={() => setSelected(listed)}>
          {t('history.selectAll')}
        </button>
      )}
      <span class="top-bar-space" />
      <IconButton icon="folder" label={t('history.organise')} onClick={() => openOrganise(selected)} />
      <Menu
        label={t('transfer.export')}
        icon="download"
        items={() => [
          { label: t('transfer.exportMarkdown'), icon: 'download', run: () => exportAs(selected, 'markdown') },
          { label: t('transfer.exportJson'), icon: 'download', run: () => exportAs(selected, 'json') },
        ]}
      />
      <IconButton
        icon="trash"
        label={t('shell.delete')}
        onClick={() => {
          setSelected([]);
          void deleteChats(selected);
        }}
      />
    </div>
  );
}
