import { useState } from 'preact/hooks';
import { IconButton } from '../../components/IconButton.tsx';
import type { Key } from '../../i18n/dictionary.ts';
import { directionOf } from '../../i18n/direction.ts';
import { t } from '../../i18n/index.ts';
import type { Parameters } from '../../state/model.ts';
import { PARAMETERS, type ParameterRow, parseParameter, type Setup, withParameter } from '../../state/setup.ts';

export interface SetupFieldsProps {
  readonly setup: Setup;
  readonly onChange: (change: Setup) => void;
}

/** What the model is told first, and its parameters, each with what it means and the way back to what is usual. */
export function SetupFields({ setup, onChange }: SetupFieldsProps) {
  const { system = '', parameters = {} } = setup;
  return (
    <>
      <label class="field">
        <span>{t('presets.system')}</span>
        <textarea
          id="system-prompt"
          rows={4}
          dir={directionOf(system)}
          placeholder={t('presets.systemPlaceholder')}
          aria-describedby="system-hint"
          value={system}
          onInput={(event) => onChange({ system: event.currentTarget.value })}
        />
      </label>
      <p id="system-hint" class="hint">
        {t('presets.systemHint')}
      </p>
      <fieldset class="parameters">
        <legend>{t('presets.parameters')}</legend>
        {PARAMETERS.map((row) => (
          <Parameter
            key={row.name}
            row={row}
            value={parameters[row.name]}
            onChange={(value) => onChange({ parameters: withParameter(parameters, row.name, value) })}
          />
        ))}
      </fieldset>
    </>
  );
}

interface ParameterProps {
  readonly row: ParameterRow;
  readonly value: Parameters[keyof Parameters];
  readonly onChange: (value: number | string | undefined) => void;
}

function Parameter({ row, value, onChange }: ParameterProps) {
  const id = `parameter-${row.name}`;
  const label = t(`presets.${row.name}`);
  const take = (typed: string): void => onChange(parseParameter(row, typed));
  return (
    <div class={`parameter ${value === undefined ? '' : 'is-set'}`}>
      <div class="parameter-head">
        <label for={id}>{label}</label>
        <Field row={row} id={id} value={value} take={take} />
        <IconButton
          icon="again"
          class="parameter-reset"
          label={t('presets.reset', { name: label })}
          disabled={value === undefined}
          onClick={() => onChange(undefined)}
        />
      </div>
      {row.kind === 'range' && (
        <input
          type="range"
          aria-label={label}
          min={row.from}
          max={row.to}
          step={row.step}
          value={typeof value === 'number' ? value : row.usual}
          onInput={(event) => take(event.currentTarget.value)}
        />
      )}
      <p id={`${id}-hint`} class="hint">
        {t(`presets.${row.name}Hint`)}
      </p>
    </div>
  );
}

interface FieldProps {
  readonly row: ParameterRow;
  readonly id: string;
  readonly value: Parameters[keyof Parameters];
  readonly take: (typed: string) => void;
}

function Field({ row, id, value, take }: FieldProps) {
  if (row.kind === 'choice') {
    return (
      <select
        id={id}
        aria-describedby={`${id}-hint`}
        value={value ?? ''}
        onChange={(event) => take(event.currentTarget.value)}
      >
        <option value="">{t('presets.usual')}</option>
        {row.values.map((each) => (
          <option key={each} value={each}>
            {t(`presets.effort_${each}` as Key)}
          </option>
        ))}
      </select>
    );
  }
  return <WrittenField id={id} value={value} take={take} />;
}

/** A value that is typed: it counts when the field is left, since a half-written number is none yet. */
function WrittenField({ id, value, take }: Omit<FieldProps, 'row'>) {
  /** Until then it stands there as it was typed, whatever else is drawn. */
  const [written, setWritten] = useState<string>();
  return (
    <input
      id={id}
      type="text"
      inputMode="decimal"
      autocomplete="off"
      placeholder={t('presets.usual')}
      aria-describedby={`${id}-hint`}
      value={written ?? value ?? ''}
      onInput={(event) => setWritten(event.currentTarget.value)}
      onChange={(event) => {
        take(event.currentTarget.value);
        setWritten(undefined);
      }}
    />
  );
}
