/** What a screen gets: the parts of the address after its name, decoded (`#/chat/abc` → `['abc']`). */
export interface ScreenProps {
  readonly path: readonly string[];
}

/** What a window over the page gets. */
export interface OverlayProps {
  /** What it is about: the id of a chat, the name of a provider, … */
  readonly about: string;
  readonly close: () => void;
}
