import { useEffect } from 'preact/hooks';
import { Toasts } from '../../components/Toasts.tsx';
import { t } from '../../i18n/index.ts';
import { app } from '../../state/app.ts';
import { useApp } from '../../state/use.ts';
import { AloudBar } from '../aloud/AloudBar.tsx';
import { overlays } from '../overlays.ts';
import { type Screen, screens } from '../screens.ts';
import { Lazy } from './Lazy.tsx';
import { Sidebar } from './Sidebar.tsx';
import { useRoute } from './use-route.ts';

/** The whole page: sidebar, screen, window over them, toasts. `key` below: another language is another page. */
export function App() {
  const route = useRoute();
  const language = useApp((state) => state.settings.language);
  const overlay = useApp((state) => state.overlay);
  const isOpen = useApp((state) => state.settings.sidebar);
  const screen = screens.find(({ name }) => name === route.screen) ?? (screens[0] as Screen);
  useEffect(() => {
    if (screen.name !== 'chat') document.title = `${t(screen.title)} · Sluice`;
  }, [screen, language]);
  // Whoever comes to a chat has seen its answers.
  const shown = route.path[0] ?? '';
  const isNew = useApp((state) => state.chats.byId[shown]?.unread === true);
  useEffect(() => {
    if (isNew) app.dispatch({ type: 'chats/changed', id: shown, change: { unread: false } });
  }, [shown, isNew]);
  const close = (): void => app.dispatch({ type: 'overlay/closed' });
  const load = overlay.name === undefined ? undefined : overlays[overlay.name];
  return (
    <div class={`app ${isOpen ? 'with-sidebar' : ''}`}>
      <button type="button" class="skip" onClick={skip}>
        {t('shell.skip')}
      </button>
      <Sidebar current={screen.name} />
      <div class="screen">
        <AloudBar />
        {screen.component === undefined ? (
          screen.load !== undefined && <Lazy load={screen.load} props={{ path: route.path }} />
        ) : (
          <screen.component path={route.path} />
        )}
      </div>
      {load !== undefined && <Lazy key={overlay.name} load={load} props={{ about: overlay.about ?? '', close }} />}
      <Toasts />
    </div>
  );
}

function skip(): void {
  const main = document.querySelector<HTMLElement>('#prompt') ?? document.querySelector<HTMLElement>('main');
  main?.focus();
}
