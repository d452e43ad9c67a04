/** Puts text on the clipboard; returns whether it is there. Plain http addresses have no clipboard but the old one. */
export async function toClipboard(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return oldClipboard(text);
  }
}

function oldClipboard(text: string): boolean {
  const focused = document.activeElement as HTMLElement | null;
  const field = document.createElement('textarea');
  field.value = text;
  field.readOnly = true;
  field.className = 'hidden';
  // Beside an open window nothing can be selected.
  (focused?.closest('dialog') ?? document.body).append(field);
  field.select();
  const isThere = document.execCommand('copy');
  field.remove();
  focused?.focus({ preventScroll: true });
  return isThere;
}
