import { useLayoutEffect, useRef } from 'preact/hooks';
import { renameChat } from '../../actions/chats.ts';
import { t } from '../../i18n/index.ts';
import type { Chat } from '../../state/model.ts';

/** A chat's title to be written anew: Escape leaves it, all else keeps it. */
export function RenameField({ chat, close }: { readonly chat: Chat; readonly close: () => void }) {
  const field = useRef<HTMLInputElement>(null);
  const isLeft = useRef(false);
  useLayoutEffect(() => {
    const node = field.current as HTMLInputElement;
    node.focus();
    node.select();
    // What it stands in may go, on the way back for example, and a field that is gone is not left.
    return () => {
      if (node.value !== node.defaultValue) keep();
    };
  }, []);
  const keep = (): void => {
    if (!isLeft.current) renameChat(chat.id, field.current?.value ?? '');
    isLeft.current = true;
  };
  const save = (): void => {
    keep();
    close();
  };
  return (
    <input
      ref={field}
      class="rename"
      aria-label={t('shell.rename')}
      defaultValue={chat.title}
      maxLength={200}
      dir="auto"
      onBlur={save}
      onKeyDown={(event) => {
        if (event.key === 'Enter') save();
        else if (event.key === 'Escape') {
          // Leaving the field would keep what is in it.
          isLeft.current = true;
          close();
        } else return;
        // Else the same key would press the button that gets the focus.
        event.preventDefault();
        event.stopPropagation();
      }}
    />
  );
}
