import { useRef, useState } from 'preact/hooks';
import { remember, switchMemory } from '../../actions/memory.ts';
import { deleteMemory } from '../../api/memory.ts';
import { Confirm } from '../../components/Confirm.tsx';
import { focusField } from '../../components/keep-focus.ts';
import { Problem } from '../../components/Problem.tsx';
import { ScreenHead } from '../../components/ScreenHead.tsx';
import { SearchField } from '../../components/SearchField.tsx';
import { Switch } from '../../components/Switch.tsx';
import { toast } from '../../components/toast.ts';
import { useDraft } from '../../components/use-draft.ts';
import { t } from '../../i18n/index.ts';
import { app } from '../../state/app.ts';
import { useApp } from '../../state/use.ts';
import './memory.css';
import { MemoryRow } from './MemoryRow.tsx';
import { useMemory } from './use-memory.ts';

/** What is remembered of the person: seen, searched, changed, and switched off. */
export default function MemoryScreen() {
  const { memory: isOn, remember: isKeeping, user } = useApp((state) => state.settings);
  const [search, setSearch] = useState('');
  const [isAsking, setAsking] = useState(false);
  const list = useMemory(user, search);
  const isSearching = search.trim() !== '';
  return (
    <>
      <ScreenHead title={t('memory.title')} />
      <main class="screen-body" tabIndex={-1}>
        <div class="memory">
          <p class="hint">{t('memory.hint')}</p>
          <div class="switches">
            <Switch label={t('memory.use')} hint={t('memory.useHint')} isOn={isOn} onChange={switchMemory} />
            {isOn && (
              <Switch
                label={t('memory.remember')}
                hint={t('memory.rememberHint')}
                isOn={isKeeping}
                onChange={(next) => app.dispatch({ type: 'settings/changed', change: { remember: next } })}
              />
            )}
          </div>
          <AddForm onAdded={list.again} />
          <SearchField id="memory-search" label={t('memory.search')} value={search} onInput={setSearch} />
          <Problem failure={list.failure} again={list.again} />
          <div class="memory-count">
            <p role="status" class={list.count === 0 ? 'nothing' : 'hint'}>
              {list.count !== undefined && words(list.count, isSearching)}
            </p>
            {!isSearching && list.items.length > 0 && (
              <button type="button" class="button is-quiet is-danger" onClick={() => setAsking(true)}>
                {t('memory.forgetAll')}
              </button>
            )}
          </div>
          <ul class="rows" aria-busy={list.count === undefined && list.failure === undefined}>
            {list.items.map((item) => (
              <MemoryRow key={item.id} item={item} user={user} onChanged={list.again} />
            ))}
          </ul>
          {list.hasMore && (
            <button type="button" class="button" onClick={list.more}>
              {t('memory.more')}
            </button>
          )}
        </div>
      </main>
      {isAsking && (
        <Confirm
          title={t('memory.forgetAllTitle')}
          text={t('memory.forgetAllSure', { count: list.count ?? 0 })}
          action={t('memory.forgetAllNow')}
          onClose={() => setAsking(false)}
          run={async () => {
            await deleteMemory(user);
            app.dispatch({ type: 'drafts/cleared', chat: 'memory', andWithin: true });
            toast(t('memory.forgottenAll'));
            list.again();
          }}
        />
      )}
    </>
  );
}

function words(count: number, isSearching: boolean): string {
  if (count === 0) return t(isSearching ? 'memory.nothing' : 'memory.empty');
  return t(isSearching ? 'memory.found' : 'memory.count', { count });
}

function AddForm({ onAdded }: { readonly onAdded: () => void }) {
  const { value: text, set: setText, forget } = useDraft('statement/', '');
  const form = useRef<HTMLFormElement>(null);
  const add = async (): Promise<void> => {
    if (!(await remember(text))) return;
    // What has been written meanwhile is another statement.
    forget(text);
    // The button goes with the text. Whoever has gone elsewhere meanwhile stays there.
    const { activeElement } = document;
    if (activeElement === document.body || form.current?.contains(activeElement)) {
      focusField('#memory-new');
      // No keyboard comes up on the screen for it then, and one goes on from here all the same.
      if (document.activeElement?.id !== 'memory-new') form.current?.focus({ preventScroll: true });
    }
    onAdded();
  };
  return (
    <form
      ref={form}
      class="memory-add"
      tabIndex={-1}
      aria-label={t('memory.addLabel')}
      onSubmit={(event) => {
        event.preventDefault();
        void add();
      }}
    >
      <label class="field">
        <span>{t('memory.addLabel')}</span>
        <textarea
          id="memory-new"
          rows={2}
          dir="auto"
          maxLength={10_000}
          placeholder={t('memory.addPlaceholder')}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </label>
      <button type="submit" class="button is-primary" disabled={text.trim() === ''}>
        {t('memory.add')}
      </button>
    </form>
  );
}
