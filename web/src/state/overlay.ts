/** The window over the page, if any: a name of `views/overlays.ts`, and what it is about. */
export interface OverlayState {
  readonly name?: string;
  readonly about?: string;
}

/** One window at a time: another one takes its place. */
export type OverlayAction =
  | { readonly type: 'overlay/opened'; readonly name: string; readonly about?: string }
  | { readonly type: 'overlay/closed' };

/** The very same state where there was nothing to close. */
export function reduceOverlay(state: OverlayState, action: OverlayAction): OverlayState {
  switch (action.type) {
    case 'overlay/opened':
      return { name: action.name, ...(action.about === undefined ? {} : { about: action.about }) };
    case 'overlay/closed':
      return state.name === undefined ? state : {};
  }
}
