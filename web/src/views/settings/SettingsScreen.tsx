import { useEffect, useRef } from 'preact/hooks';
import { Icon } from '../../components/Icon.tsx';
import { ScreenHead } from '../../components/ScreenHead.tsx';
import { t } from '../../i18n/index.ts';
import { addressOf } from '../../state/route.ts';
import type { ScreenProps } from '../props.ts';
import { sections } from './sections.ts';
import './settings.css';

/** All settings, in parts. */
export default function SettingsScreen({ path }: ScreenProps) {
  const section = sections.find(({ name }) => name === path[0]) ?? sections[0];
  const nav = useRef<HTMLElement>(null);
  useEffect(() => {
    // On a phone the parts are in one line, which is longer than the screen.
    nav.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' });
  }, [section]);
  return (
    <>
      <ScreenHead title={t('settings.title')} />
      <main class="screen-body" tabIndex={-1}>
        <div class="settings">
          <nav ref={nav} class="settings-nav" aria-label={t('settings.sections')}>
            <ul>
              {sections.map(({ name, title, icon }) => (
                <li key={name}>
                  <a href={addressOf('settings', name)} aria-current={name === section.name ? 'page' : undefined}>
                    <Icon name={icon} />
                    <span>{t(title)}</span>
                  </a>
                </li>
              ))}
              <li>
                <a href={addressOf('memory')}>
                  <Icon name="memory" />
                  <span>{t('settings.memory')}</span>
                </a>
              </li>
            </ul>
          </nav>
          <section key={section.name} class="settings-section" aria-labelledby="settings-heading">
            <h2 id="settings-heading">{t(section.title)}</h2>
            <section.component />
          </section>
        </div>
      </main>
    </>
  );
}
