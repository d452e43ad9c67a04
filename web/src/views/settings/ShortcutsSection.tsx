import { ShortcutList } from '../shortcuts/ShortcutList.tsx';

/** What the keyboard can do. */
export function ShortcutsSection() {
  return (
    <div class="shortcuts">
      <ShortcutList />
    </div>
  );
}
