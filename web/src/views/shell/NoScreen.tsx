import { Missing } from '../../components/Missing.tsx';
import { ScreenHead } from '../../components/ScreenHead.tsx';
import { t } from '../../i18n/index.ts';

/** Where an address leads that is of no screen. */
export function NoScreen() {
  return (
    <>
      <ScreenHead title="Sluice" />
      <main class="chat" aria-label={t('shell.noPage')} tabIndex={-1}>
        <Missing words={t('shell.noPage')} />
      </main>
    </>
  );
}
