import { render } from 'preact';
import { applyAppearance } from './actions/appearance.ts';
import { refreshCatalog, watchCatalog } from './actions/catalog.ts';
import { listenToKeys } from './commands/index.ts';
import { keepFocus } from './components/keep-focus.ts';
import { toast } from './components/toast.ts';
import { refuseDrops } from './components/use-file-drop.ts';
import { withPart } from './components/with-part.ts';
import { speak, t, wantedLanguage } from './i18n/index.ts';
import { app } from './state/app.ts';
import { keepState } from './storage/keep.ts';
import './styles/index.css';
import { App } from './views/shell/App.tsx';
import { firstWords } from './views/shell/first-words.ts';

// In a function: modules that wait at their top level would keep those waiting that are loaded later and need them.
async function start(): Promise<void> {
  // It may be refused before there are words to say so.
  const kept = keepState(
    (what) => void firstWords().then(() => toast(t(what === 'chats' ? 'shell.notKept' : 'shell.draftsNotKept'))),
  );
  applyAppearance();
  void refreshCatalog();
  watchCatalog();
  let spokenLanguage = wantedLanguage();
  await speak(spokenLanguage);
  const root = document.getElementById('app') as HTMLElement;
  root.replaceChildren();
  render(<App />, root);
  refuseDrops();
  listenToKeys();
  keepFocus(root);

  const adapt = (): void => {
    applyAppearance();
    const wanted = wantedLanguage();
    if (wanted !== spokenLanguage) {
      spokenLanguage = wanted;
      // All words are anywhere: the whole page is drawn again, and keeps what is being written in it.
      withPart(
        () => speak(wanted),
        () => render(<App />, root),
      );
    }
  };
  app.subscribe(adapt);
  // What was kept may have come while the words were on their way.
  adapt();

  await kept;
  await firstWords();
  withPart(
    () => import('./views/prompts/slash-source.ts'),
    ({ offerPrompts }) => offerPrompts(),
  );
  if (Object.values(app.get().chats.byId).some(({ share }) => share !== undefined)) {
    withPart(
      () => import('./views/share/keeper.ts'),
      ({ keepShares }) => keepShares(),
    );
  }
  if ('serviceWorker' in navigator && import.meta.env.PROD) {
    navigator.serviceWorker.register('/service-worker.js').catch(() => {});
  }
}

void start();
