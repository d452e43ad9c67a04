import { newChat } from '../../actions/chats.ts';
import { IconButton } from '../../components/IconButton.tsx';
import { SidebarButton } from '../../components/SidebarButton.tsx';
import { useSidebar } from '../../components/sidebar.ts';
import { t } from '../../i18n/index.ts';
import { app } from '../../state/app.ts';
import type { Chat } from '../../state/model.ts';
import { countOf, setupOf } from '../../state/setup.ts';
import { useApp } from '../../state/use.ts';
import { ModelPicker } from './ModelPicker.tsx';

/** What stands above a chat; without one, above the page for a new one. */
export function TopBar({ chat }: { readonly chat: Chat | undefined }) {
  const { isOpen } = useSidebar();
  return (
    <header class="top-bar">
      <SidebarButton />
      <ModelPicker chat={chat} />
      <span class="top-bar-space" />
      <SetupButton chat={chat} />
      {!isOpen && <IconButton icon="plus" label={t('shell.newChat')} onClick={newChat} />}
    </header>
  );
}

/** The way to instructions and parameters, which says whether there are any. */
function SetupButton({ chat }: { readonly chat: Chat | undefined }) {
  const count = useApp((state) => countOf(setupOf(chat, state.settings)));
  const label = count === 0 ? t('presets.setup') : `${t('presets.setup')} (${count})`;
  return (
    <IconButton
      icon="settings"
      id="setup"
      class={count === 0 ? '' : 'is-set'}
      label={label}
      onClick={() => app.dispatch({ type: 'overlay/opened', name: 'setup', about: chat?.id ?? '' })}
    />
  );
}
