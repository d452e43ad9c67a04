import { useState } from 'preact/hooks';
import { newChat } from '../../actions/chats.ts';
import { applyPreset, presets } from '../../actions/library.ts';
import { Icon } from '../../components/Icon.tsx';
import { IconButton } from '../../components/IconButton.tsx';
import { Menu } from '../../components/Menu.tsx';
import { ScreenHead } from '../../components/ScreenHead.tsx';
import { sayNotKept, toast } from '../../components/toast.ts';
import { t } from '../../i18n/index.ts';
import { app } from '../../state/app.ts';
import { findOffer } from '../../state/catalog.ts';
import { newId } from '../../state/model.ts';
import { type Preset, readPresets, writePresets } from '../../state/presets.ts';
import { addressOf } from '../../state/route.ts';
import { useApp } from '../../state/use.ts';
import { useLibrary } from '../../storage/library.ts';
import { save } from '../transfer/export.ts';
import { PresetEditor } from './PresetEditor.tsx';
import { pickJson } from './pick-json.ts';
import '../prompts/prompts.css';
import './presets.css';

/** All presets: to begin a chat with, to change, to take along. */
export default function PresetsScreen() {
  const all = useLibrary(presets);
  const [edited, setEdited] = useState<Preset>();
  return (
    <>
      <ScreenHead title={t('presets.title')}>
        <button
          type="button"
          id="new-preset"
          class="button"
          onClick={() => setEdited({ id: newId(), name: '', updated: 0 })}
        >
          <Icon name="plus" /> <span class="where-wide">{t('presets.add')}</span>
        </button>
        <Menu
          label={t('presets.more')}
          items={() => [
            { label: t('prompts.import'), icon: 'upload', run: importPresets },
            all.length > 0 && { label: t('prompts.export'), icon: 'download', run: () => exportPresets(all) },
          ]}
        />
      </ScreenHead>
      <main class="screen-body" tabIndex={-1}>
        <div class="library">
          <p class="hint">
            {t('presets.hint')} <a href={addressOf('prompts')}>{t('prompts.title')}</a>
          </p>
          {all.length === 0 && <p class="nothing">{t('presets.empty')}</p>}
          <ul class="rows">
            {all.map((preset) => (
              <Row key={preset.id} preset={preset} edit={() => setEdited(preset)} />
            ))}
          </ul>
        </div>
      </main>
      {edited !== undefined && (
        <PresetEditor
          preset={edited}
          isNew={all.every(({ id }) => id !== edited.id)}
          close={() => setEdited(undefined)}
          save={(preset) => {
            setEdited(undefined);
            void presets.put([preset]).catch(sayNotKept);
          }}
        />
      )}
    </>
  );
}

function Row({ preset, edit }: { readonly preset: Preset; readonly edit: () => void }) {
  const { name, choice, system, parameters = {} } = preset;
  const catalog = useApp((state) => state.catalog);
  const model =
    choice === undefined
      ? undefined
      : (findOffer(catalog, choice)?.entry.label ?? (choice.model || t('models.automatic')));
  const facts = [model, ...Object.entries(parameters).map(([key, value]) => `${key} ${value}`)].filter(Boolean);
  const remove = async (): Promise<void> => {
    await presets.remove([preset.id]).catch(sayNotKept);
    app.dispatch({ type: 'drafts/cleared', chat: `preset/${preset.id}` });
    toast(t('prompts.deleted', { name }), { undo: () => void presets.put([preset]).catch(sayNotKept) });
  };
  const use = (): void => {
    applyPreset(preset, undefined);
    newChat();
    toast(t('presets.applied', { name }));
  };
  return (
    <li class="row">
      <button type="button" class="library-use" title={t('presets.use')} onClick={use}>
        <span class="library-title" dir="auto">
          {name}
        </span>
        {facts.length > 0 && <span class="preset-facts">{facts.join(' · ')}</span>}
        {system !== undefined && (
          <span class="library-text" dir="auto">
            {system.slice(0, 300)}
          </span>
        )}
      </button>
      <div class="row-actions">
        <IconButton icon="edit" label={t('prompts.editNamed', { name })} onClick={edit} />
        <IconButton
          icon="download"
          label={t('presets.exportNamed', { name })}
          onClick={() => exportPresets([preset])}
        />
        <IconButton icon="trash" label={t('prompts.delete', { name })} onClick={() => void remove()} />
      </div>
    </li>
  );
}

function exportPresets(all: readonly Preset[]): void {
  save(new Blob([writePresets(all)], { type: 'application/json' }), 'sluice-presets.json');
}

function importPresets(): void {
  pickJson(async (file) => {
    const read = readPresets(file, newId);
    await presets.put(read);
    toast(t('presets.imported', { count: read.length }));
  });
}
