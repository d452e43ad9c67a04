import type { ComponentProps } from 'preact';
import { Icon, type IconName } from './Icon.tsx';

export interface IconButtonProps extends Omit<ComponentProps<'button'>, 'icon'> {
  readonly icon: IconName;
  /** What it does: its name and its tooltip. */
  readonly label: string;
}

/** A button that shows a picture only. */
export function IconButton({ icon, label, class: extra, ...rest }: IconButtonProps) {
  return (
    <button type="button" class={`icon-button ${extra ?? ''}`} aria-label={label} title={label} {...rest}>
      <Icon name={icon} size={18} />
    </button>
  );
}
