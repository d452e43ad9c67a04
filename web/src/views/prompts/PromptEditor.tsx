import { useId } from 'preact/hooks';
import { CancelButton } from '../../components/CancelButton.tsx';
import { Dialog } from '../../components/Dialog.tsx';
import { useDraft } from '../../components/use-draft.ts';
import { directionOf } from '../../i18n/direction.ts';
import { t } from '../../i18n/index.ts';
import { freeName, type Prompt, slashName, variablesOf } from '../../state/prompts.ts';

export interface PromptEditorProps {
  readonly prompt: Prompt;
  /** Names of the other prompts and of commands. */
  readonly taken: ReadonlySet<string>;
  readonly isNew: boolean;
  readonly save: (prompt: Prompt) => void;
  readonly close: () => void;
}

type Words = Pick<Prompt, 'title' | 'name' | 'text'>;

function wordsOf({ title, name, text }: Prompt): Words {
  return { title, name, text };
}

/** A prompt to be written, or rewritten. What was written is there the next time, unless it is saved or given up. */
export function PromptEditor({ prompt, taken, isNew, save, close }: PromptEditorProps) {
  const draft = useDraft(`prompt/${isNew ? '' : prompt.id}`, wordsOf(prompt));
  const { title, name, text } = draft.value;
  const form = useId();
  const change = (words: Partial<Words>): void => draft.set({ ...draft.value, ...words });
  const wish = slashName(name.trim() === '' ? title : name);
  const isTaken = taken.has(wish);
  const variables = variablesOf(text).map((variable) => variable.name);
  return (
    <Dialog
      title={t(isNew ? 'prompts.add' : 'prompts.edit')}
      onClose={close}
      class="is-long"
      isWritten={draft.isWritten}
      actions={
        <>
          <CancelButton draft={draft} close={close} />
          <button type="submit" form={form} class="button is-primary" disabled={text.trim() === '' || isTaken}>
            {t('shell.keep')}
          </button>
        </>
      }
    >
      <form
        id={form}
        onSubmit={(event) => {
          event.preventDefault();
          if (text.trim() === '' || isTaken) return;
          draft.forget();
          save({
            ...prompt,
            title: title.trim(),
            name: wish === '' ? freeName('', taken) : wish,
            text,
            updated: Date.now(),
          });
        }}
      >
        <label class="field">
          <span>{t('prompts.name')}</span>
          <input
            type="text"
            dir="auto"
            maxLength={200}
            value={title}
            onInput={(event) => change({ title: event.currentTarget.value })}
          />
        </label>
        <label class="field">
          <span>{t('prompts.slash')}</span>
          <input
            type="text"
            maxLength={60}
            autocomplete="off"
            spellcheck={false}
            placeholder={slashName(title)}
            aria-invalid={isTaken}
            aria-describedby="prompt-slash-hint"
            value={name}
            onInput={(event) => change({ name: event.currentTarget.value })}
          />
        </label>
        <p id="prompt-slash-hint" class={isTaken ? 'problem' : 'hint'} role={isTaken ? 'alert' : undefined}>
          {isTaken ? t('prompts.taken', { name: wish }) : t('prompts.slashHint', { name: wish || 'prompt' })}
        </p>
        <label class="field">
          <span>{t('prompts.text')}</span>
          <textarea
            rows={8}
            dir={directionOf(text)}
            required
            aria-describedby="prompt-text-hint"
            value={text}
            onInput={(event) => change({ text: event.currentTarget.value })}
          />
        </label>
        <p id="prompt-text-hint" class="hint">
          {variables.length === 0 ? t('prompts.textHint') : t('prompts.variables', { names: variables.join(', ') })}
        </p>
      </form>
    </Dialog>
  );
}
