import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { Icon, type IconName } from './Icon.tsx';
import { Popover } from './Popover.tsx';

/** One thing to do. The menu closes before `run` is called. */
export interface MenuItem {
  readonly label: string;
  readonly icon?: IconName;
  readonly isDangerous?: boolean;
  /** Of things to switch on or off, or to choose between. */
  readonly checked?: boolean;
  readonly run: () => void;
}

export interface MenuProps {
  /** The name of the button. */
  readonly label: string;
  readonly icon?: IconName;
  /** What the button shows instead of an icon. */
  readonly children?: ComponentChildren;
  readonly items: () => readonly (MenuItem | undefined | false)[];
  readonly align?: 'start' | 'end';
  readonly class?: string;
}

/** A button with a list of things to do: https://www.w3.org/WAI/ARIA/apg/patterns/menu-button/ */
export function Menu({ label, icon = 'more', children, items, align = 'end', class: extra = '' }: MenuProps) {
  const [isOpen, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  return (
    <>
      <button
        ref={button}
        type="button"
        class={children === undefined ? `icon-button ${extra}` : extra}
        aria-label={label}
        title={label}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        {children ?? <Icon name={icon} />}
      </button>
      {isOpen && (
        <Popover anchor={button} align={align} role="menu" label={label} class="menu" onClose={() => setOpen(false)}>
          <Items items={items().filter((item) => item !== undefined && item !== false)} close={() => setOpen(false)} />
        </Popover>
      )}
    </>
  );
}

function Items({ items, close }: { readonly items: readonly MenuItem[]; readonly close: () => void }) {
  const list = useRef<HTMLDivElement>(null);
  const buttons = (): HTMLElement[] => [...(list.current?.querySelectorAll<HTMLElement>('button') ?? [])];
  const move = (event: KeyboardEvent): void => {
    const all = buttons();
    const at = all.indexOf(document.activeElement as HTMLElement);
    const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 }[event.key];
    if (next !== undefined) all.at(next % all.length)?.focus();
    else if (event.key === 'Tab') close();
    else return;
    event.preventDefault();
  };
  return (
    <div ref={list} role="none" onKeyDown={move}>
      {items.map((item, index) => (
        // biome-ignore lint/a11y/useAriaPropsSupportedByRole: aria-checked stands there with the role that has it only
        <button
          key={item.label}
          type="button"
          role={item.checked === undefined ? 'menuitem' : 'menuitemcheckbox'}
          aria-checked={item.checked}
          tabIndex={-1}
          data-first={index === 0 ? '' : undefined}
          class={`menu-item ${item.isDangerous ? 'is-dangerous' : ''}`}
          onClick={() => {
            close();
            item.run();
          }}
        >
          {item.icon !== undefined && <Icon name={item.icon} />}
          <span>{item.label}</span>
          {item.checked === true && <Icon name="check" />}
        </button>
      ))}
    </div>
  );
}
