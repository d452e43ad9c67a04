import { useState } from 'preact/hooks';
import { choiceOf } from '../../actions/chats.ts';
import { applyPreset, presets } from '../../actions/library.ts';
import { changeSetup } from '../../actions/setup.ts';
import { Dialog } from '../../components/Dialog.tsx';
import { takeFocus } from '../../components/focus.ts';
import { sayNotKept, toast } from '../../components/toast.ts';
import { t } from '../../i18n/index.ts';
import { newId } from '../../state/model.ts';
import type { Preset } from '../../state/presets.ts';
import { addressOf, goTo } from '../../state/route.ts';
import { countOf, setupOf } from '../../state/setup.ts';
import { useApp } from '../../state/use.ts';
import { useLibrary } from '../../storage/library.ts';
import type { OverlayProps } from '../props.ts';
import { SetupFields } from './SetupFields.tsx';
import './presets.css';

/** Instructions and parameters of a chat, whose id is `about`; of the next one where it is empty. */
export default function SetupDialog({ about, close }: OverlayProps) {
  const chat = useApp((state) => state.chats.byId[about]);
  const settings = useApp((state) => state.settings);
  const setup = setupOf(chat, settings);
  return (
    <Dialog
      title={t('presets.setup')}
      onClose={close}
      class="setup is-long"
      actions={
        <>
          <button
            type="button"
            class="button is-quiet"
            disabled={countOf(setup) === 0}
            onClick={() => changeSetup(chat, { system: '', parameters: {} })}
          >
            {t('presets.resetAll')}
          </button>
          <button type="button" class="button is-primary" onClick={close}>
            {t('presets.done')}
          </button>
        </>
      }
    >
      <p class="hint">{t(chat === undefined ? 'presets.forNext' : 'presets.forThis')}</p>
      <Presets about={about} close={close} />
      <SetupFields setup={setup} onChange={(change) => changeSetup(chat, change)} />
    </Dialog>
  );
}

function Presets({ about, close }: OverlayProps) {
  const all = useLibrary(presets);
  const chat = useApp((state) => state.chats.byId[about]);
  const settings = useApp((state) => state.settings);
  const [name, setName] = useState<string>();
  const save = (): void => {
    const trimmed = (name ?? '').trim();
    if (trimmed === '') return;
    const same = all.find((preset) => preset.name.toLowerCase() === trimmed.toLowerCase());
    const preset: Preset = {
      id: same?.id ?? newId(),
      name: trimmed,
      choice: choiceOf(chat),
      updated: Date.now(),
      ...setupOf(chat, settings),
    };
    setName(undefined);
    presets.put([preset]).then(() => toast(t('presets.saved', { name: trimmed })), sayNotKept);
  };
  if (name !== undefined) {
    return (
      <form
        class="preset-name"
        onSubmit={(event) => {
          event.preventDefault();
          save();
        }}
      >
        <input
          type="text"
          class="rename"
          dir="auto"
          maxLength={80}
          aria-label={t('presets.name')}
          placeholder={t('presets.name')}
          ref={takeFocus}
          value={name}
          onInput={(event) => setName(event.currentTarget.value)}
        />
        <button type="button" class="button is-quiet" onClick={() => setName(undefined)}>
          {t('shell.cancel')}
        </button>
        <button type="submit" class="button is-primary" disabled={name.trim() === ''}>
          {t('shell.keep')}
        </button>
      </form>
    );
  }
  return (
    <div class="preset-bar">
      {all.length > 0 && (
        <label class="field">
          <span class="hidden">{t('presets.apply')}</span>
          <select
            id="preset"
            value=""
            onChange={(event) => {
              const preset = all.find(({ id }) => id === event.currentTarget.value);
              if (preset === undefined) return;
              applyPreset(preset, chat);
              toast(t('presets.applied', { name: preset.name }));
              event.currentTarget.value = '';
            }}
          >
            <option value="">{t('presets.apply')}</option>
            {all.map((preset) => (
              <option key={preset.id} value={preset.id}>
                {preset.name}
              </option>
            ))}
          </select>
        </label>
      )}
      <button type="button" class="button" onClick={() => setName('')}>
        {t('presets.saveAs')}
      </button>
      {all.length > 0 && (
        <button
          type="button"
          class="link-button"
          onClick={() => {
            close();
            goTo(addressOf('presets'));
          }}
        >
          {t('presets.title')}
        </button>
      )}
    </div>
  );
}
