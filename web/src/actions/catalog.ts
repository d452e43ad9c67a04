import { loadCatalog, loadModels } from '../api/catalog.ts';
import { toFailure } from '../api/http.ts';
import { app } from '../state/app.ts';
import type { ModelEntry } from '../state/catalog.ts';
import type { Failure } from '../state/model.ts';
import { inOrder } from './in-order.ts';

/** How long the list is as good as new for whoever comes back to the page, and for whoever stays there. Milliseconds. */
const COMING_BACK_MS = 30_000;
const STAYING_MS = 300_000;
/** How often it is looked for while the server does not answer. */
const AWAY_MS = 3_000;

/** Of the list that is shown, and when it was asked for last. */
let tag = '';
let asked = 0;

const askList = inOrder();
/** By provider. */
const askProvider = new Map<string, ReturnType<typeof inOrder>>();

/** Reads the providers and models anew, those for the person's own keys as well. */
export async function refreshCatalog(): Promise<void> {
  asked = Date.now();
  const counts = askList();
  try {
    const loaded = await loadCatalog(tag);
    if (!counts()) return;
    tag = loaded?.tag ?? tag;
    const { catalog, settings } = app.get();
    // Where nothing is new, those that have not answered to their key may do so now.
    const due = Object.entries(settings.keys).filter(([name]) => loaded !== undefined || catalog.own[name] !== 'known');
    if (loaded === undefined && due.length === 0) return;
    const { providers, models } = loaded ?? catalog;
    app.dispatch({ type: 'catalog/loaded', providers, models, withKey: Object.keys(settings.keys) });
    await Promise.all(due.map(([name, key]) => refreshProvider(name, key)));
  } catch {
    if (!counts()) return;
    // Whatever comes next is news.
    tag = '';
    app.dispatch({ type: 'catalog/failed' });
  }
}

/** Notices what is new: when somebody comes back to the page, now and then, and soon when the server was away. */
export function watchCatalog(): void {
  const look = (least: number): void => {
    const { status } = app.get().catalog;
    // Where the clock is set back, it was asked for in the future.
    const since = Math.abs(Date.now() - asked);
    if (document.visibilityState !== 'visible' || since < AWAY_MS) return;
    if (status === 'failed' || since >= least) void refreshCatalog();
  };
  addEventListener('online', () => look(0));
  addEventListener('focus', () => look(COMING_BACK_MS));
  document.addEventListener('visibilitychange', () => look(COMING_BACK_MS));
  setInterval(() => look(STAYING_MS), AWAY_MS);
}

/** What a provider offers to the holder of `key`, if it says so. */
async function refreshProvider(name: string, key: string): Promise<void> {
  await askModels(name, key).catch(() => {
    if (isPresent(name, key)) app.dispatch({ type: 'catalog/mute', name });
  });
}

/** Asks a provider anew for what it offers to the holder of `key`, or of the server's. Throws what it says against that. */
export async function askModels(name: string, key: string | undefined): Promise<readonly ModelEntry[]> {
  const questions = askProvider.get(name) ?? inOrder();
  askProvider.set(name, questions);
  const counts = questions();
  const models = await loadModels(name, key);
  if (isPresent(name, key) && counts()) app.dispatch({ type: 'catalog/provider', name, models });
  return models;
}

/** Whether a key was neither replaced nor forgotten meanwhile. */
function isPresent(name: string, key: string | undefined): boolean {
  return app.get().settings.keys[name] === key;
}

/**
 * Keeps a key in this browser, unless the provider refuses it, which is thrown. Returns why it could not be asked, if so: the
 * key may be good. An empty one is forgotten.
 */
export async function saveKey(provider: string, key: string): Promise<Failure | undefined> {
  const keep = (): void => app.dispatch({ type: 'settings/key', provider, key });
  if (key === '') {
    keep();
    tag = '';
    await refreshCatalog();
    return undefined;
  }
  try {
    const models = await loadModels(provider, key);
    keep();
    app.dispatch({ type: 'catalog/provider', name: provider, models });
    return undefined;
  } catch (thrown) {
    const failure = toFailure(thrown);
    if (isRefusal(failure)) throw thrown;
    const isNewKey = !isPresent(provider, key);
    keep();
    app.dispatch({ type: 'catalog/mute', name: provider, isNewKey });
    return failure;
  }
}

/** Whether the provider does not want the key. Some call that a bad request. */
function isRefusal({ status = 0, code }: Failure): boolean {
  return status >= 400 && status <= 403 && code !== 'unauthorized';
}
