import { remember } from '../../actions/memory.ts';
import { IconButton } from '../../components/IconButton.tsx';
import { t } from '../../i18n/index.ts';
import { app } from '../../state/app.ts';
import { useApp } from '../../state/use.ts';

/** Puts what somebody wrote into the memory, where that is on. */
export function RememberButton({ chat, text }: { readonly chat: string; readonly text: string }) {
  const isOn = useApp((state) => state.settings.memory);
  if (!isOn) return null;
  return (
    <IconButton
      icon="memory"
      label={t('memory.rememberThis')}
      onClick={() => void remember(text, app.get().chats.byId[chat])}
    />
  );
}
