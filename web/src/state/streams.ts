/** Answers that are on their way, by their message. */
export type StreamsState = Readonly<Record<string, Running>>;

interface Running {
  readonly chat: string;
  /**
   * waiting: the server has sent nothing yet; lost: the connection broke off and is being made anew; elsewhere: another tab
   * waits for it, and there is nothing to attach to before its first word.
   */
  readonly phase: 'waiting' | 'streaming' | 'lost' | 'elsewhere';
  /** Which tab that is. */
  readonly tab?: string;
}

/** `message`: the id of the answer. */
export type StreamsAction =
  | { readonly type: 'streams/opened'; readonly message: string; readonly chat: string }
  | { readonly type: 'streams/phase'; readonly message: string; readonly phase: Running['phase'] }
  /** All that another tab follows now: chats by message. */
  | { readonly type: 'streams/told'; readonly tab: string; readonly chats: Readonly<Record<string, string>> }
  | { readonly type: 'streams/closed'; readonly message: string };

/** Nothing is on its way. */
export const initialStreams: StreamsState = {};

/** `told` replaces all that the same tab told before; of an answer that this tab follows itself it changes nothing. */
export function reduceStreams(state: StreamsState, action: StreamsAction): StreamsState {
  switch (action.type) {
    case 'streams/opened':
      return { ...state, [action.message]: { chat: action.chat, phase: 'waiting' } };
    case 'streams/phase': {
      const running = state[action.message];
      if (running === undefined || running.phase === action.phase) return state;
      return { ...state, [action.message]: { ...running, phase: action.phase } };
    }
    case 'streams/told': {
      const { tab, chats } = action;
      const others = Object.entries(state).filter(([, running]) => running.tab !== tab);
      const theirs = Object.entries(chats).map(([id, chat]): [string, Running] => [
        id,
        { chat, phase: 'elsewhere', tab },
      ]);
      return Object.fromEntries([...theirs, ...others]);
    }
    case 'streams/closed': {
      if (state[action.message] === undefined) return state;
      const { [action.message]: _, ...rest } = state;
      return rest;
    }
  }
}

/** The message that is being answered in a chat. */
export function runningIn(state: StreamsState, chat: string): string | undefined {
  return Object.entries(state).find(([, running]) => running.chat === chat)?.[0];
}

/** The chats of the answers that this tab follows itself, by message. */
export function ownChats(state: StreamsState): Readonly<Record<string, string>> {
  const own = Object.entries(state).filter(([, { phase }]) => phase !== 'elsewhere');
  return Object.fromEntries(own.map(([id, { chat }]) => [id, chat]));
}

/** How many of `most` places are this tab's, when the others follow so many answers: as many as nobody else has a right to. */
export function roomBeside(others: readonly number[], most: number): number {
  const fair = Math.ceil(most / (others.length + 1));
  const left = others.reduce((rest, count) => rest - Math.min(count, fair), most);
  return Math.max(1, left);
}
