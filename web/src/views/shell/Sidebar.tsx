import { useLayoutEffect } from 'preact/hooks';
import { newChat } from '../../actions/chats.ts';
import { Icon } from '../../components/Icon.tsx';
import { IconButton } from '../../components/IconButton.tsx';
import { onBack } from '../../components/on-back.ts';
import { closeDrawer, showSidebar, useSidebar } from '../../components/sidebar.ts';
import { Toasts } from '../../components/Toasts.tsx';
import { t } from '../../i18n/index.ts';
import { addressOf } from '../../state/route.ts';
import { screens } from '../screens.ts';
import { ChatList } from './ChatList.tsx';

/** The chats, and the ways to the other screens. On a phone it lies over the page while it is open. */
export function Sidebar({ current }: { readonly current: string }) {
  const { isOpen, isNarrow } = useSidebar();
  useLayoutEffect(() => {
    if (!isNarrow) return;
    // Whoever went somewhere wants to see it.
    addEventListener('hashchange', closeDrawer);
    return () => {
      removeEventListener('hashchange', closeDrawer);
      closeDrawer();
    };
  }, [isNarrow]);
  useLayoutEffect(() => {
    return isNarrow && isOpen ? onBack(() => showSidebar(false)) : undefined;
  }, [isNarrow, isOpen]);
  if (!isOpen) return null;
  return (
    <>
      {isNarrow && (
        <button type="button" class="scrim" aria-label={t('shell.closeSidebar')} onClick={() => showSidebar(false)} />
      )}
      <nav
        class="sidebar"
        aria-label={t('shell.chats')}
        onClickCapture={({ target }) => {
          if (!isNarrow || !(target instanceof Element)) return;
          const to = target.closest('#new-chat') === null ? target.closest('a')?.getAttribute('href') : '#/';
          // Whoever is there already wants to see it, too, and the address does not change.
          if (to === location.hash) closeDrawer();
        }}
        onKeyDown={(event) => {
          if (!isNarrow || event.key !== 'Escape') return;
          // It closes the menu of a chat first.
          if (document.querySelector(':popover-open') !== null) return;
          // An answer goes on.
          event.preventDefault();
          showSidebar(false);
        }}
      >
        <div class="sidebar-head">
          <a class="brand" href="#/">
            <img src="/favicon.svg" alt="" width="26" height="26" />
            <span>Sluice</span>
          </a>
          <IconButton
            icon="sidebar"
            id="close-sidebar"
            label={t('shell.closeSidebar')}
            onClick={() => showSidebar(false)}
          />
        </div>
        <button type="button" id="new-chat" class="new-chat" onClick={newChat}>
          <Icon name="plus" />
          <span>{t('shell.newChat')}</span>
        </button>
        <a class="sidebar-search" href={addressOf('history')} aria-current={current === 'history' ? 'page' : undefined}>
          <Icon name="search" />
          <span>{t('history.search')}</span>
        </a>
        <ChatList />
        <ul class="sidebar-foot">
          {screens
            .filter(({ icon }) => icon !== undefined)
            .map(({ name, title, icon }) => (
              <li key={name}>
                <a href={addressOf(name)} aria-current={name === current ? 'page' : undefined}>
                  {icon !== undefined && <Icon name={icon} />}
                  <span>{t(title)}</span>
                </a>
              </li>
            ))}
          <li>
            <a href="/docs/">
              <Icon name="external" />
              <span>{t('shell.api')}</span>
            </a>
          </li>
        </ul>
        {isNarrow && <Toasts />}
      </nav>
    </>
  );
}
