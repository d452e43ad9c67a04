import { useApp } from '../state/use.ts';
import { SCREEN_KEYBOARD } from './keep-focus.ts';
import { useMedia } from './use-media.ts';

/** Whether Enter sends what is written. A keyboard on the screen has no Shift+Enter: there it does so only for those who chose it. */
export function useEnterSends(): boolean {
  const isOnScreen = useMedia(SCREEN_KEYBOARD);
  const enter = useApp((state) => state.settings.enter);
  return enter === 'auto' ? !isOnScreen : enter === 'send';
}
