import { useId } from 'preact/hooks';
import { CancelButton } from '../../components/CancelButton.tsx';
import { Dialog } from '../../components/Dialog.tsx';
import { useDraft } from '../../components/use-draft.ts';
import { t } from '../../i18n/index.ts';
import { AUTOMATIC } from '../../state/catalog.ts';
import type { Preset } from '../../state/presets.ts';
import { cleaned } from '../../state/setup.ts';
import { ModelButton } from '../chat/ModelPicker.tsx';
import { SetupFields } from './SetupFields.tsx';

export interface PresetEditorProps {
  readonly preset: Preset;
  readonly isNew: boolean;
  readonly save: (preset: Preset) => void;
  readonly close: () => void;
}

/** A preset to be written, or rewritten. What was written is there the next time, unless it is saved or given up. */
export function PresetEditor({ preset, isNew, save, close }: PresetEditorProps) {
  const kept = useDraft(`preset/${isNew ? '' : preset.id}`, preset);
  const { value: draft, set: setDraft } = kept;
  const form = useId();
  const submit = (event: Event): void => {
    event.preventDefault();
    if (draft.name.trim() === '') return;
    const { name, choice } = draft;
    kept.forget();
    save({
      id: preset.id,
      name: name.trim(),
      updated: Date.now(),
      ...(choice === undefined ? {} : { choice }),
      ...cleaned(draft),
    });
  };
  return (
    <Dialog
      title={t(isNew ? 'presets.add' : 'presets.edit')}
      onClose={close}
      class="setup is-long"
      isWritten={kept.isWritten}
      actions={
        <>
          <CancelButton draft={kept} close={close} />
          <button type="submit" form={form} class="button is-primary" disabled={draft.name.trim() === ''}>
            {t('shell.keep')}
          </button>
        </>
      }
    >
      <form id={form} onSubmit={submit}>
        <label class="field">
          <span>{t('presets.name')}</span>
          <input
            type="text"
            dir="auto"
            maxLength={80}
            required
            value={draft.name}
            onInput={(event) => setDraft({ ...draft, name: event.currentTarget.value })}
          />
        </label>
        <div class="preset-model">
          <ModelButton
            id="preset-model"
            choice={draft.choice ?? AUTOMATIC}
            none={t(draft.choice === undefined ? 'presets.anyModel' : 'models.automatic')}
            onChoice={(choice) => setDraft({ ...draft, choice })}
          />
          {draft.choice !== undefined && (
            <button
              type="button"
              class="link-button"
              onClick={() => {
                const { choice: _, ...rest } = draft;
                setDraft(rest);
              }}
            >
              {t('presets.anyModel')}
            </button>
          )}
        </div>
        <SetupFields setup={draft} onChange={(change) => setDraft({ ...draft, ...change })} />
      </form>
    </Dialog>
  );
}
