import { type CatalogAction, type CatalogState, initialCatalog, reduceCatalog } from './catalog.ts';
import { type ChatsAction, type ChatsState, initialChats, reduceChats } from './chats.ts';
import { type DraftsAction, type DraftsState, reduceDrafts } from './drafts.ts';
import { type DrawerAction, type DrawerState, reduceDrawer } from './drawer.ts';
import { initialMessages, type MessagesAction, type MessagesState, reduceMessages } from './messages.ts';
import { type OverlayAction, type OverlayState, reduceOverlay } from './overlay.ts';
import { defaultSettings, reduceSettings, type Settings, type SettingsAction } from './settings.ts';
import { initialStreams, reduceStreams, type StreamsAction, type StreamsState } from './streams.ts';

/** All that the page knows. Each slice has its own file: state, actions and reducer. */
export interface State {
  readonly chats: ChatsState;
  readonly messages: MessagesState;
  readonly streams: StreamsState;
  readonly catalog: CatalogState;
  readonly settings: Settings;
  readonly drafts: DraftsState;
  readonly overlay: OverlayState;
  readonly drawer: DrawerState;
}

/** All that may happen to the state. A type's part before the slash names its slice. */
export type Action =
  | ChatsAction
  | MessagesAction
  | StreamsAction
  | CatalogAction
  | SettingsAction
  | DraftsAction
  | OverlayAction
  | DrawerAction;

/** As a page begins, before anything was read or asked. */
export const initialState: State = {
  chats: initialChats,
  messages: initialMessages,
  streams: initialStreams,
  catalog: initialCatalog,
  settings: defaultSettings,
  drafts: {},
  overlay: {},
  drawer: 'closed',
};

/** Where the reducer of a slice returns it as it was, this is the very same state, and nobody is told. */
export function reduce(state: State, action: Action): State {
  const slice = action.type.slice(0, action.type.indexOf('/'));
  switch (slice) {
    case 'chats':
      return keep(state, 'chats', reduceChats(state.chats, action as ChatsAction));
    case 'messages':
      return keep(state, 'messages', reduceMessages(state.messages, action as MessagesAction));
    case 'streams':
      return keep(state, 'streams', reduceStreams(state.streams, action as StreamsAction));
    case 'catalog':
      return keep(state, 'catalog', reduceCatalog(state.catalog, action as CatalogAction));
    case 'settings':
      return keep(state, 'settings', reduceSettings(state.settings, action as SettingsAction));
    case 'drafts':
      return keep(state, 'drafts', reduceDrafts(state.drafts, action as DraftsAction));
    case 'overlay':
      return keep(state, 'overlay', reduceOverlay(state.overlay, action as OverlayAction));
    case 'drawer':
      return keep(state, 'drawer', reduceDrawer(state.drawer, action as DrawerAction));
    default:
      return state;
  }
}

function keep<Name extends keyof State>(state: State, name: Name, slice: State[Name]): State {
  return slice === state[name] ? state : { ...state, [name]: slice };
}
