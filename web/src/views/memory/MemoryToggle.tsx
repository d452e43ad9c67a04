import { switchMemoryIn } from '../../actions/memory.ts';
import { Icon } from '../../components/Icon.tsx';
import { t } from '../../i18n/index.ts';
import { app } from '../../state/app.ts';
import { memoryOfNext } from '../../state/memory.ts';
import { useApp } from '../../state/use.ts';

/**
 * Says that the memory helps to answer in a chat, and switches it off and on there. Without memory there is none. `chat` is
 * its id, or no chat's: then it is about the next one.
 */
export function MemoryToggle({ chat }: { readonly chat: string }) {
  const isOn = useApp(({ settings }) => settings.memory && settings.user !== '');
  const isUsed = useApp(({ settings, chats }) => (chats.byId[chat] ?? memoryOfNext(settings)).memory !== false);
  if (!isOn) return null;
  return (
    <button
      type="button"
      id="use-memory"
      class="toggle"
      aria-pressed={isUsed}
      title={t('memory.usedHere')}
      onClick={() => switchMemoryIn(app.get().chats.byId[chat])}
    >
      <Icon name="memory" />
      <span>{t('memory.here')}</span>
    </button>
  );
}
