import { useLayoutEffect, useState } from 'preact/hooks';
import { Icon } from '../../components/Icon.tsx';
import { IconButton } from '../../components/IconButton.tsx';
import { t } from '../../i18n/index.ts';
import { withPlayer } from './read.ts';
import { aloud } from './state.ts';

/** Says that something is being read aloud, with the means to pause and to end it. */
export function AloudBar() {
  const [reading, setReading] = useState(aloud.get);
  useLayoutEffect(() => aloud.subscribe(() => setReading(aloud.get())), []);
  if (reading === undefined) return null;
  const { phase, at, count } = reading;
  const isPaused = phase === 'paused';
  const toggle = (): void =>
    withPlayer(({ pauseReading, resumeReading }) => (isPaused ? resumeReading() : pauseReading()));
  return (
    <section class={`aloud is-${phase}`} aria-label={t('aloud.reading')}>
      <Icon name="speaker" />
      <span aria-busy={phase === 'loading'}>{t('aloud.sentence', { at: at + 1, count })}</span>
      <IconButton
        icon={isPaused ? 'play' : 'pause'}
        label={t(isPaused ? 'aloud.resume' : 'aloud.pause')}
        onClick={toggle}
      />
      <IconButton icon="stop" label={t('aloud.stop')} onClick={() => withPlayer(({ stopReading }) => stopReading())} />
    </section>
  );
}
