import { useId } from 'preact/hooks';

export interface ChoicesProps<Value extends string> {
  readonly label: string;
  readonly value: Value;
  readonly options: readonly (readonly [value: Value, label: string])[];
  readonly onChange: (value: Value) => void;
  /** The label is for those only who do not see the page. */
  readonly isPlain?: boolean;
}

/** A few possibilities side by side, one of which is chosen. */
export function Choices<Value extends string>({ label, value, options, onChange, isPlain }: ChoicesProps<Value>) {
  const name = useId();
  return (
    <fieldset class="choices">
      <legend class={isPlain === true ? 'hidden' : ''}>{label}</legend>
      <div>
        {options.map(([own, text]) => (
          <label key={own}>
            <input type="radio" name={name} value={own} checked={own === value} onChange={() => onChange(own)} />
            <span>{text}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}
