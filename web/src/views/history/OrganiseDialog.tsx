import { useMemo, useRef, useState } from 'preact/hooks';
import { Dialog } from '../../components/Dialog.tsx';
import { t } from '../../i18n/index.ts';
import { app } from '../../state/app.ts';
import { sortedChats } from '../../state/chats.ts';
import { cleanName, foldersOf, tagsOf } from '../../state/history-filter.ts';
import type { OverlayProps } from '../props.ts';
import { chatsOf, organise } from './actions.ts';
import { TagsField } from './TagsField.tsx';
import './organise.css';

/** Folder and tags of chats. `about` has their ids, with commas between them. */
export default function OrganiseDialog({ about, close }: OverlayProps) {
  const ids = about.split(',');
  const chats = useMemo(() => chatsOf(ids), [about]);
  const all = useMemo(() => sortedChats(app.get().chats), []);
  const folders = foldersOf(all);
  const [first] = chats;
  const isOneFolder = chats.every(({ folder }) => folder === first?.folder);
  const before = isOneFolder ? (first?.folder ?? '') : undefined;
  const [folder, setFolder] = useState(before);
  // Of several chats: the tags that all of them have.
  const common = useMemo(() => (first?.tags ?? []).filter((tag) => chats.every((chat) => chat.tags.includes(tag))), []);
  const [tags, setTags] = useState<readonly string[]>(common);
  const field = useRef<HTMLInputElement>(null);
  const [isTyping, setTyping] = useState(false);
  const isWritten = isTyping || folder !== before || tags.join() !== common.join();
  const others = tagsOf(all)
    .map(({ name }) => name)
    .filter((name) => !tags.includes(name));

  const save = (event: Event): void => {
    event.preventDefault();
    // A tag that is still in the field is meant as well.
    const typed = cleanName(field.current?.value ?? '');
    const wanted = typed === '' || tags.includes(typed) ? tags : [...tags, typed];
    organise(ids, {
      ...(folder === undefined || folder === before ? {} : { folder: cleanName(folder) }),
      add: wanted.filter((tag) => !common.includes(tag)),
      remove: common.filter((tag) => !wanted.includes(tag)),
    });
    close();
  };
  const what = first !== undefined && chats.length === 1 ? first.title : t('history.count', { count: chats.length });
  return (
    <Dialog title={t('history.organiseTitle')} onClose={close} class="organise" isWritten={isWritten}>
      <form onSubmit={save}>
        <p class="hint" dir="auto">
          {what}
        </p>
        <label class="field">
          <span>{t('history.folder')}</span>
          <input
            list="folders"
            autocomplete="off"
            maxLength={60}
            dir="auto"
            placeholder={folder === undefined ? t('history.mixedFolders') : undefined}
            value={folder ?? ''}
            aria-describedby="folder-hint"
            onInput={(event) => setFolder(event.currentTarget.value)}
          />
        </label>
        <datalist id="folders">
          {folders.map(({ name }) => (
            <option key={name} value={name} />
          ))}
        </datalist>
        <p id="folder-hint" class="hint">
          {t('history.folderHint')}
        </p>
        <TagsField tags={tags} others={others} field={field} change={setTags} onTyping={setTyping} />
        <div class="row-end">
          <button type="button" class="button is-quiet" onClick={close}>
            {t('shell.cancel')}
          </button>
          <button type="submit" class="button is-primary">
            {t('shell.keep')}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
