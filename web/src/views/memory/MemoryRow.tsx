import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { toFailure } from '../../api/http.ts';
import { addMemory, deleteMemory, type Remembered } from '../../api/memory.ts';
import { CancelButton } from '../../components/CancelButton.tsx';
import { IconButton } from '../../components/IconButton.tsx';
import { toast } from '../../components/toast.ts';
import { type KeptDraft, useDraft } from '../../components/use-draft.ts';
import { beginning } from '../../i18n/beginning.ts';
import { region, t } from '../../i18n/index.ts';
import { placeOf } from '../../state/compare.ts';
import { useApp } from '../../state/use.ts';
import { reasonOf } from '../chat/advice.ts';

export interface MemoryRowProps {
  readonly item: Remembered;
  readonly user: string;
  readonly onChanged: () => void;
}

/** A statement, which can be said in other words and forgotten. */
export function MemoryRow({ item, user, onChanged }: MemoryRowProps) {
  const [isEditing, setEditing] = useState(false);
  // The words that it is to have, which are seen at once; and whether a change is on its way. Once one is done, this row is gone
  // with the next look at all of them.
  const [words, setWords] = useState(item.memory);
  const progress = useRef<'as read' | 'changing' | 'changed'>('as read');
  const chat = useApp((state) => state.chats.byId[item.conversation_id ?? '']);
  const draft = useDraft(`memory/${item.id}`, item.memory);
  const short = item.memory.length > 60 ? `${beginning(item.memory, 59)}…` : item.memory;
  const about = chat === undefined ? undefined : { id: chat.id, title: chat.title };

  const attempt = async (work: () => Promise<void>): Promise<boolean> => {
    let isDone = true;
    try {
      await work();
    } catch (thrown) {
      isDone = false;
      toast(t('memory.notChanged', { reason: reasonOf(toFailure(thrown)) }));
    }
    onChanged();
    return isDone;
  };
  /** That it is still here after a change: the look at all of them has failed. */
  const isOpen = (): boolean => {
    if (progress.current === 'changed') onChanged();
    return progress.current === 'as read';
  };
  const change = async (work: () => Promise<void>): Promise<void> => {
    if (!isOpen()) return;
    progress.current = 'changing';
    progress.current = (await attempt(work)) ? 'changed' : 'as read';
    if (progress.current === 'as read') setWords(item.memory);
  };
  const forget = (): Promise<void> =>
    change(async () => {
      await deleteMemory(user, item.id);
      draft.forget();
      const undo = (): void => void attempt(() => addMemory(user, item.memory, about));
      toast(t('memory.forgotten'), { undo });
    });
  // The new words first: if that fails, the old ones are still there.
  const save = (text: string): Promise<void> =>
    change(async () => {
      setWords(text);
      await addMemory(user, text, about);
      draft.forget();
      await deleteMemory(user, item.id);
      toast(t('memory.changed'));
    });
  if (isEditing) {
    return (
      <li class="row">
        <Editor
          draft={draft}
          close={() => setEditing(false)}
          save={(text) => {
            setEditing(false);
            if (text === '' || text === item.memory) draft.forget();
            else void save(text);
          }}
        />
      </li>
    );
  }
  return (
    <li class="row">
      <div class="row-words">
        <p class="memory-text" dir="auto">
          {words}
        </p>
        <small class="hint">
          {t(item.role === 'user' ? 'memory.byYou' : 'memory.byAnswer')} ·{' '}
          <time dateTime={item.created_at}>{new Date(item.created_at).toLocaleDateString(region())}</time>
          {chat !== undefined && (
            <>
              {' · '}
              <a href={placeOf(chat)} title={t('memory.openChat')} dir="auto">
                {chat.title || t('shell.untitled')}
              </a>
            </>
          )}
        </small>
      </div>
      <div class="row-actions">
        <IconButton
          icon="edit"
          label={t('memory.edit', { text: short })}
          onClick={() => isOpen() && setEditing(true)}
        />
        <IconButton icon="trash" label={t('memory.forget', { text: short })} onClick={() => void forget()} />
      </div>
    </li>
  );
}

interface EditorProps {
  readonly draft: KeptDraft<string>;
  readonly save: (text: string) => void;
  readonly close: () => void;
}

function Editor({ draft, save, close }: EditorProps) {
  const field = useRef<HTMLTextAreaElement>(null);
  useLayoutEffect(() => field.current?.focus(), []);
  return (
    <form
      class="memory-editor"
      onSubmit={(event) => {
        event.preventDefault();
        save(field.current?.value.trim() ?? '');
      }}
    >
      <textarea
        ref={field}
        rows={2}
        dir="auto"
        aria-label={t('chat.edit')}
        value={draft.value}
        onInput={(event) => draft.set(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Escape') return;
          event.stopPropagation();
          close();
        }}
      />
      <div class="row-end">
        <CancelButton draft={draft} close={close} />
        <button type="submit" class="button is-primary">
          {t('shell.keep')}
        </button>
      </div>
    </form>
  );
}
