import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useReducer, useState } from 'preact/hooks';
import { onSlashItems, slashItems } from '../../commands/slash.ts';
import type { SlashItem } from '../../commands/slash-item.ts';
import { spoken, t } from '../../i18n/index.ts';

export interface SlashMenuProps {
  readonly field: RefObject<HTMLTextAreaElement | null>;
  readonly text: string;
  readonly setText: (text: string) => void;
}

/** What can be done with a word behind a slash at the beginning of the message. */
export function SlashMenu({ field, text, setText }: SlashMenuProps) {
  const [marked, setMarked] = useState(0);
  const [dismissed, setDismissed] = useState('');
  const found = /^\/(\S*)(?:\s+([\s\S]*))?$/.exec(text);
  const word = found?.[1]?.toLowerCase();
  const argument = found?.[2];
  const language = spoken();
  const [news, tell] = useReducer((count: number) => count + 1, 0);
  useLayoutEffect(() => onSlashItems(() => tell(undefined)), []);
  const items = useMemo(() => (word === undefined ? [] : slashItems(word, argument)), [word, argument, language, news]);
  const isOpen = items.length > 0 && dismissed !== text;
  const at = Math.min(marked, items.length - 1);
  // What is typed from here on asks for something else.
  useLayoutEffect(() => {
    setMarked(0);
    setDismissed('');
  }, [text]);

  const choose = (item: SlashItem): void => {
    if (item.takesArgument && argument === undefined) setText(`/${item.name} `);
    else setText(item.run(argument ?? '') ?? '');
    field.current?.focus();
  };
  // Before anything else can be typed: a key press later Enter would send the message.
  useLayoutEffect(() => {
    const node = field.current;
    if (!isOpen || node === null) return;
    const onKey = (event: KeyboardEvent): void => {
      const item = items[at];
      if (event.key === 'ArrowDown') setMarked((at + 1) % items.length);
      else if (event.key === 'ArrowUp') setMarked((at - 1 + items.length) % items.length);
      else if ((event.key === 'Enter' || event.key === 'Tab') && !event.shiftKey && item !== undefined) choose(item);
      else if (event.key === 'Escape') setDismissed(text);
      else return;
      event.preventDefault();
      event.stopImmediatePropagation();
    };
    node.addEventListener('keydown', onKey, { capture: true });
    return () => node.removeEventListener('keydown', onKey, { capture: true });
  });
  useEffect(() => {
    const node = field.current;
    if (node === null) return;
    // A textarea that is a combobox all the time would be announced as one.
    if (isOpen) node.setAttribute('aria-activedescendant', `slash-${at}`);
    else node.removeAttribute('aria-activedescendant');
    if (isOpen) node.setAttribute('aria-controls', 'slash-menu');
    else node.removeAttribute('aria-controls');
  }, [isOpen, at]);
  if (!isOpen) return null;
  return (
    <div id="slash-menu" class="slash-menu" role="listbox" aria-label={t('composer.commands')}>
      {items.map((item, index) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the keyboard stays in the field, which points at this
        <div
          key={item.name}
          id={`slash-${index}`}
          role="option"
          tabIndex={-1}
          aria-selected={index === at}
          class={`slash-item ${index === at ? 'is-marked' : ''}`}
          onPointerMove={() => setMarked(index)}
          onPointerDown={(event) => event.preventDefault()}
          onClick={() => choose(item)}
        >
          <code>/{item.name}</code>
          <span dir="auto">{item.title}</span>
        </div>
      ))}
    </div>
  );
}
