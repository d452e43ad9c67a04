/** Whether the sidebar lies over the page, where there is no room beside it. Nothing keeps it: what is kept is how wide windows are. */
export type DrawerState = 'open' | 'closed';

/** Opens or closes it. */
export interface DrawerAction {
  readonly type: 'drawer/set';
  readonly drawer: DrawerState;
}

/** The action says it all. */
export function reduceDrawer(_: DrawerState, { drawer }: DrawerAction): DrawerState {
  return drawer;
}
