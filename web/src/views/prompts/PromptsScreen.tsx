import { useState } from 'preact/hooks';
import { newChat } from '../../actions/chats.ts';
import { prompts } from '../../actions/library.ts';
import { commands } from '../../commands/index.ts';
import { Icon } from '../../components/Icon.tsx';
import { IconButton } from '../../components/IconButton.tsx';
import { Menu } from '../../components/Menu.tsx';
import { ScreenHead } from '../../components/ScreenHead.tsx';
import { SearchField } from '../../components/SearchField.tsx';
import { sayNotKept, toast } from '../../components/toast.ts';
import { t } from '../../i18n/index.ts';
import { app } from '../../state/app.ts';
import { newId } from '../../state/model.ts';
import { type Prompt, promptFits, readPrompts, writePrompts } from '../../state/prompts.ts';
import { addressOf } from '../../state/route.ts';
import { useLibrary } from '../../storage/library.ts';
import { pickJson } from '../presets/pick-json.ts';
import { save } from '../transfer/export.ts';
import { PromptEditor } from './PromptEditor.tsx';
import { putIntoField, textFor } from './slash-source.ts';
import './prompts.css';

const slashes = commands.flatMap(({ slash }) => slash ?? []);

/** The library: texts that are used again and again. */
export default function PromptsScreen() {
  const all = useLibrary(prompts);
  const [search, setSearch] = useState('');
  const [edited, setEdited] = useState<Prompt>();
  const shown = all.filter((prompt) => promptFits(prompt, search.trim()));
  const isNew = edited !== undefined && all.every(({ id }) => id !== edited.id);
  const taken = new Set([...slashes, ...all.filter(({ id }) => id !== edited?.id).map(({ name }) => name)]);
  return (
    <>
      <ScreenHead title={t('prompts.title')}>
        <button
          type="button"
          id="new-prompt"
          class="button"
          onClick={() => setEdited({ id: newId(), name: '', title: '', text: '', updated: 0 })}
        >
          <Icon name="plus" /> <span class="where-wide">{t('prompts.add')}</span>
        </button>
        <Menu
          label={t('prompts.more')}
          items={() => [
            { label: t('prompts.import'), icon: 'upload', run: importPrompts },
            all.length > 0 && { label: t('prompts.export'), icon: 'download', run: () => exportPrompts(all) },
          ]}
        />
      </ScreenHead>
      <main class="screen-body" tabIndex={-1}>
        <div class="library">
          <p class="hint">
            {t('prompts.hint')} <a href={addressOf('presets')}>{t('presets.title')}</a>
          </p>
          {all.length > 0 && (
            <SearchField id="prompts-search" label={t('prompts.search')} value={search} onInput={setSearch} />
          )}
          {shown.length === 0 && (
            <p class="nothing" role="status">
              {t(all.length === 0 ? 'prompts.empty' : 'prompts.nothing')}
            </p>
          )}
          <ul class="rows">
            {shown.map((prompt) => (
              <Row key={prompt.id} prompt={prompt} edit={() => setEdited(prompt)} />
            ))}
          </ul>
        </div>
      </main>
      {edited !== undefined && (
        <PromptEditor
          prompt={edited}
          isNew={isNew}
          taken={taken}
          close={() => setEdited(undefined)}
          save={(prompt) => {
            setEdited(undefined);
            void prompts.put([prompt]).catch(sayNotKept);
          }}
        />
      )}
    </>
  );
}

function Row({ prompt, edit }: { readonly prompt: Prompt; readonly edit: () => void }) {
  const title = prompt.title || `/${prompt.name}`;
  const remove = async (): Promise<void> => {
    await prompts.remove([prompt.id]).catch(sayNotKept);
    for (const form of ['prompt', 'fill']) app.dispatch({ type: 'drafts/cleared', chat: `${form}/${prompt.id}` });
    toast(t('prompts.deleted', { name: title }), { undo: () => void prompts.put([prompt]).catch(sayNotKept) });
  };
  return (
    <li class="row">
      <button type="button" class="library-use" title={t('prompts.use')} onClick={() => use(prompt)}>
        <span class="library-title" dir="auto">
          {title} <code>/{prompt.name}</code>
        </span>
        <span class="library-text" dir="auto">
          {prompt.text.slice(0, 300)}
        </span>
      </button>
      <div class="row-actions">
        <IconButton icon="edit" label={t('prompts.editNamed', { name: title })} onClick={edit} />
        <IconButton icon="trash" label={t('prompts.delete', { name: title })} onClick={() => void remove()} />
      </div>
    </li>
  );
}

function use(prompt: Prompt): void {
  newChat();
  const text = textFor(prompt);
  if (text !== undefined) putIntoField(text);
}

function exportPrompts(all: readonly Prompt[]): void {
  save(new Blob([writePrompts(all)], { type: 'application/json' }), 'sluice-prompts.json');
}

function importPrompts(): void {
  pickJson(async (file) => {
    const known = prompts.get();
    const names = [...slashes, ...known.map(({ name }) => name)];
    const read = readPrompts(file, names, newId).filter(({ text }) => known.every((each) => each.text !== text));
    await prompts.put(read);
    toast(t('prompts.imported', { count: read.length }));
  });
}
