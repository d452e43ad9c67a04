import type { Choice } from './catalog.ts';

/** `system`: as the system has it. */
export type Theme = 'system' | 'light' | 'dark';
/** `auto`: that of the language. */
export type Direction = 'auto' | 'ltr' | 'rtl';
type Motion = 'system' | 'reduced';
/** What Enter does to a message: sends it, or begins a new line. `auto`: as it suits the keyboard. */
export type Enter = 'auto' | 'send' | 'line';

/** What a person decided for this browser. All of it is kept in its local storage and nowhere else. */
export interface Settings {
  readonly theme: Theme;
  readonly direction: Direction;
  readonly motion: Motion;
  /** A language of `i18n`, or empty: the browser's. */
  readonly language: string;
  /** The model of the next chat. */
  readonly choice?: Choice;
  /** `provider/model`. */
  readonly favourites: readonly string[];
  /** Keys of providers, by the provider's name; they go with the requests to that provider. */
  readonly keys: Readonly<Record<string, string>>;
  readonly webSearch: boolean;
  /** Ctrl or Cmd with Enter always sends. */
  readonly enter: Enter;
  /** Whether the sidebar stands beside the page, where there is room. */
  readonly sidebar: boolean;
  /** Whether the server's memory helps to answer, and whose it is. */
  readonly memory: boolean;
  readonly user: string;
  /** Whether what the person writes is remembered by itself, while the memory is on. */
  readonly remember: boolean;
  /** The voice that reads aloud: `browser`, or `<provider>` and its voice. */
  readonly voice: string;
  /** Anything that a screen of its own wants kept, by the screen's name. */
  readonly more: Readonly<Record<string, unknown>>;
}

/** `key`: an empty one is forgotten; `favourite`: becomes one, or is none any more. */
export type SettingsAction =
  | { readonly type: 'settings/changed'; readonly change: Partial<Settings> }
  | { readonly type: 'settings/key'; readonly provider: string; readonly key: string }
  | { readonly type: 'settings/favourite'; readonly name: string }
  /** As if the page were opened for the first time. */
  | { readonly type: 'settings/reset' };

/** What a person finds who has decided nothing. */
export const defaultSettings: Settings = {
  theme: 'system',
  direction: 'auto',
  motion: 'system',
  language: '',
  favourites: [],
  keys: {},
  webSearch: false,
  enter: 'auto',
  sidebar: true,
  memory: false,
  user: '',
  remember: false,
  voice: '',
  more: {},
};

/** All settings, from what a browser has kept of them. It may be of an earlier version. */
export function takeSettings(kept: Partial<Settings> & { readonly enterSends?: unknown }): Settings {
  const { enterSends, ...rest } = kept;
  const settings = { ...defaultSettings, ...rest };
  // What a person once chose; true was what everybody had.
  return enterSends === false && settings.enter === 'auto' ? { ...settings, enter: 'line' } : settings;
}

/** `reset` forgets keys and favourites, too. */
export function reduceSettings(state: Settings, action: SettingsAction): Settings {
  switch (action.type) {
    case 'settings/changed':
      return { ...state, ...action.change };
    case 'settings/reset':
      return defaultSettings;
    case 'settings/key': {
      const { [action.provider]: _, ...rest } = state.keys;
      return { ...state, keys: action.key === '' ? rest : { ...rest, [action.provider]: action.key } };
    }
    case 'settings/favourite': {
      const without = state.favourites.filter((name) => name !== action.name);
      const isNew = without.length === state.favourites.length;
      return { ...state, favourites: isNew ? [...state.favourites, action.name] : without };
    }
  }
}
