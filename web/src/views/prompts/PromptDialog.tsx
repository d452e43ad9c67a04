import { useId } from 'preact/hooks';
import { prompts } from '../../actions/library.ts';
import { isSend } from '../../commands/keys.ts';
import { Dialog } from '../../components/Dialog.tsx';
import { useDraft } from '../../components/use-draft.ts';
import { useEnterSends } from '../../components/use-enter-sends.ts';
import { directionOf } from '../../i18n/direction.ts';
import { spoken, t } from '../../i18n/index.ts';
import { fillIn, knownValues, type Variable, valuesOf, variablesOf } from '../../state/prompts.ts';
import { useLibrary } from '../../storage/library.ts';
import type { OverlayProps } from '../props.ts';
import { putIntoField } from './slash-source.ts';
import './prompts.css';

/** Asks for the variables of a prompt, whose id is `about`, and puts the text into the message field. */
export default function PromptDialog({ about, close }: OverlayProps) {
  const prompt = useLibrary(prompts).find(({ id }) => id === about);
  const form = useId();
  const draft = useDraft<Readonly<Record<string, string>>>(`fill/${about}`, NONE);
  const { value: values, set: setValues } = draft;
  if (prompt === undefined) return null;
  const variables = variablesOf(prompt.text);
  const all = {
    ...knownValues(new Date(), spoken()),
    ...valuesOf(variables, values),
  };
  return (
    <Dialog
      title={prompt.title || `/${prompt.name}`}
      onClose={close}
      class="prompt-dialog is-long"
      isWritten={draft.isWritten}
      actions={
        <button type="submit" form={form} class="button is-primary">
          {t('prompts.insert')}
        </button>
      }
    >
      <form
        id={form}
        onSubmit={(event) => {
          event.preventDefault();
          draft.forget();
          close();
          putIntoField(fillIn(prompt.text, all));
        }}
      >
        {variables.map((variable) => (
          <Field
            key={variable.name}
            variable={variable}
            value={all[variable.name] ?? ''}
            onChange={(value) => setValues({ ...values, [variable.name]: value })}
          />
        ))}
        <details>
          <summary>{t('prompts.preview')}</summary>
          <pre class="prompt-preview" dir="auto">
            {fillIn(prompt.text, all)}
          </pre>
        </details>
      </form>
    </Dialog>
  );
}

const NONE = {};

interface FieldProps {
  readonly variable: Variable;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

function Field({ variable, value, onChange }: FieldProps) {
  const id = useId();
  const enterSends = useEnterSends();
  return (
    <label class="field" for={id}>
      <span dir="auto">{variable.name}</span>
      {variable.choices.length > 0 ? (
        <select id={id} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
          {variable.choices.map((choice) => (
            <option key={choice} value={choice}>
              {choice}
            </option>
          ))}
        </select>
      ) : (
        <textarea
          id={id}
          rows={1}
          dir={directionOf(value)}
          value={value}
          onInput={(event) => onChange(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (!isSend(event, enterSends)) return;
            event.preventDefault();
            event.currentTarget.form?.requestSubmit();
          }}
        />
      )}
    </label>
  );
}
