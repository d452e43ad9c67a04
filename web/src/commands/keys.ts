interface Pressed {
  readonly key: string;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
  readonly shiftKey: boolean;
}

/** Whether a key press is the one that `keys` (`Mod+Shift+O`, `Escape`) describes. */
export function isPressed(keys: string, pressed: Pressed, isApple: boolean): boolean {
  const parts = keys.split('+');
  const key = parts.at(-1) ?? '';
  const has = (name: string): boolean => parts.includes(name);
  const isMod = isApple ? pressed.metaKey : pressed.ctrlKey;
  const isOther = isApple ? pressed.ctrlKey : pressed.metaKey;
  if (pressed.key.toLowerCase() !== key.toLowerCase()) return false;
  if (isMod !== has('Mod') || isOther || pressed.altKey !== has('Alt')) return false;
  // For a sign like ? the layout of the keyboard decides whether Shift is needed.
  return pressed.shiftKey === has('Shift') || (key.length === 1 && /[^a-z0-9]/i.test(key));
}

/** Whether a key press in a field for messages sends it. */
export function isSend(event: KeyboardEvent, enterSends: boolean): boolean {
  if (event.key !== 'Enter') return false;
  return enterSends ? !event.shiftKey : event.ctrlKey || event.metaKey;
}

/** Whether a key press belongs to an input method: Enter takes its word there, Escape leaves it. */
export function isOfInputMethod({ isComposing, keyCode }: Pick<KeyboardEvent, 'isComposing' | 'keyCode'>): boolean {
  // Safari says that the word is over before it tells of the Enter that took it: https://bugs.webkit.org/show_bug.cgi?id=165004
  return isComposing || keyCode === 229;
}

/** What takes key presses itself. */
const TAKING = 'input, textarea, select, audio, video, iframe, [contenteditable]';

/** Calls `take` before somebody's first letter, typed nowhere, or what they paste there, gets somewhere. Returns the way to end it. */
export function onTyping(take: () => void): () => void {
  const isApple = isAppleKeyboard();
  const onKey = (event: KeyboardEvent): void => {
    const { target, defaultPrevented } = event;
    if (defaultPrevented || !(isLetter(event) || isPressed('Mod+V', event, isApple))) return;
    if (target instanceof Element && target.closest(TAKING) !== null) return;
    if (document.querySelector('dialog[open], :popover-open') === null) take();
  };
  document.addEventListener('keydown', onKey);
  return () => document.removeEventListener('keydown', onKey);
}

/** Space presses buttons and scrolls; other keys of more than one letter are no letters. */
function isLetter({ key, ctrlKey, metaKey, altKey }: Pressed): boolean {
  return !ctrlKey && !metaKey && !altKey && key !== ' ' && [...key].length === 1;
}

const APPLE: Readonly<Record<string, string>> = { Mod: '⌘', Shift: '⇧', Alt: '⌥', Escape: 'Esc', ArrowUp: '↑' };
const OTHERS: Readonly<Record<string, string>> = { Mod: 'Ctrl', Escape: 'Esc', ArrowUp: '↑' };

/** The keys as they are written on the keyboard, one by one. */
export function keyNames(keys: string, isApple: boolean): readonly string[] {
  const names = isApple ? APPLE : OTHERS;
  return keys.split('+').map((part) => names[part] ?? (part.length === 1 ? part.toUpperCase() : part));
}

/** By what the browser says of the machine. */
export function isAppleKeyboard(): boolean {
  return /Mac|iPhone|iPad/.test(navigator.platform);
}
