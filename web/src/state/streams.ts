/** Answers that are on their way to this tab, by their message. */
export type StreamsState = Readonly<Record<string, Running>>;

export interface Running {
  readonly chat: string;
  /** waiting: the server has sent nothing yet; lost: the connection broke off and is being made anew. */
  readonly phase: 'waiting' | 'streaming' | 'lost';
}

export type StreamsAction =
  | { readonly type: 'streams/opened'; readonly message: string; readonly chat: string }
  | { readonly type: 'streams/phase'; readonly message: string; readonly phase: Running['phase'] }
  | { readonly type: 'streams/closed'; readonly message: string };

export const initialStreams: StreamsState = {};

export function reduceStreams(state: StreamsState, action: StreamsAction): StreamsState {
  switch (action.type) {
    case 'streams/opened':
      return { ...state, [action.message]: { chat: action.chat, phase: 'waiting' } };
    case 'streams/phase': {
      const running = state[action.message];
      if (running === undefined || running.phase === action.phase) return state;
      return { ...state, [action.message]: { ...running, phase: action.phase } };
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
