import { render } from 'preact';
import { refreshCatalog } from './actions/catalog.ts';
import { listenToKeys } from './commands/index.ts';
import { toast } from './components/toast.ts';
import { speak, t, wantedLanguage } from './i18n/index.ts';
import { app } from './state/app.ts';
import { keepState } from './storage/keep.ts';
import './styles/index.css';
import { App } from './views/shell/App.tsx';

const kept = keepState(() => toast(t('shell.notKept')));
applyTheme();
let spokenLanguage = wantedLanguage();
await speak(spokenLanguage);
const root = document.getElementById('app') as HTMLElement;
render(<App />, root);
listenToKeys();
void refreshCatalog();

let theme = app.get().settings.theme;
app.subscribe(() => {
  if (app.get().settings.theme !== theme) {
    theme = app.get().settings.theme;
    applyTheme();
  }
  const wanted = wantedLanguage();
  if (wanted !== spokenLanguage) {
    spokenLanguage = wanted;
    // All words are anywhere: the page is made anew in the other language, in the same state.
    void speak(wanted).then(() => {
      render(null, root);
      render(<App />, root);
    });
  }
});

function applyTheme(): void {
  const wish = app.get().settings.theme;
  if (wish === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = wish;
}

await kept;
if (Object.values(app.get().chats.byId).some(({ share }) => share !== undefined)) {
  void import('./views/share/keeper.ts').then(({ keepShares }) => keepShares());
}
if ('serviceWorker' in navigator && import.meta.env.PROD) {
  navigator.serviceWorker.register('/service-worker.js').catch(() => {});
}
