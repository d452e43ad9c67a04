import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { ScreenHead } from '../../components/ScreenHead.tsx';
import { useSidebar } from '../../components/sidebar.ts';
import { Toasts } from '../../components/Toasts.tsx';
import { spoken, t } from '../../i18n/index.ts';
import { app } from '../../state/app.ts';
import { useApp } from '../../state/use.ts';
import { AloudBar } from '../aloud/AloudBar.tsx';
import { overlays } from '../overlays.ts';
import { screens } from '../screens.ts';
import { Lazy } from './Lazy.tsx';
import { NoScreen } from './NoScreen.tsx';
import { Sidebar } from './Sidebar.tsx';
import { useRoute } from './use-route.ts';

/** The whole page: sidebar, screen, window over them, toasts. */
export function App() {
  const route = useRoute();
  const language = spoken();
  const overlay = useApp((state) => state.overlay);
  const { isOpen, isNarrow } = useSidebar();
  const isCovered = isNarrow && isOpen;
  const screen = screens.find(({ name }) => name === route.screen);
  useEffect(() => {
    if (screen?.name !== 'chat') document.title = `${t(screen?.title ?? 'shell.noPage')} · Sluice`;
  }, [screen, language]);
  // Whoever comes to a chat has seen its answers.
  const shown = route.path[0] ?? '';
  const isNew = useApp((state) => state.chats.byId[shown]?.unread === true);
  useEffect(() => {
    if (isNew) app.dispatch({ type: 'chats/changed', id: shown, change: { unread: false } });
  }, [shown, isNew]);
  const close = (): void => app.dispatch({ type: 'overlay/closed' });
  useEffect(() => {
    if (overlay.name === undefined) return;
    // Over another page than where it was opened it would be about something else.
    const address = location.hash;
    const leave = (): void => {
      if (location.hash !== address) close();
    };
    addEventListener('hashchange', leave);
    return () => removeEventListener('hashchange', leave);
  }, [overlay]);
  const load = overlay.name === undefined ? undefined : overlays[overlay.name];
  return (
    <div class={`app ${isOpen ? 'with-sidebar' : ''}`}>
      <button type="button" class="skip" inert={isCovered} onClick={skip}>
        {t('shell.skip')}
      </button>
      <Sidebar current={screen?.name ?? ''} />
      <div class="screen" inert={isCovered}>
        <AloudBar />
        {screen === undefined && <NoScreen />}
        {screen?.component !== undefined && <screen.component path={route.path} />}
        {screen?.load !== undefined && (
          <Lazy
            key={screen.name}
            load={screen.load}
            props={{ path: route.path }}
            around={(words) => <Coming title={t(screen.title)}>{words}</Coming>}
          />
        )}
      </div>
      {load !== undefined && (
        <Lazy key={overlay.name} load={load} props={{ about: overlay.about ?? '', close }} close={close} />
      )}
      <Toasts />
    </div>
  );
}

/** What stands where a screen will be: on a phone its head is the only way to the other ones. */
function Coming({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
  return (
    <>
      <ScreenHead title={title} />
      <main class="chat" aria-label={title} tabIndex={-1}>
        {children}
      </main>
    </>
  );
}

function skip(): void {
  const main = document.querySelector<HTMLElement>('#prompt') ?? document.querySelector<HTMLElement>('main');
  main?.focus();
}
