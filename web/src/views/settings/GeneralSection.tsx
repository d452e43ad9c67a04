import { useEffect, useState } from 'preact/hooks';
import { BACKEND, getJson } from '../../api/http.ts';
import { isAppleKeyboard, keyNames } from '../../commands/keys.ts';
import { Choices } from '../../components/Choices.tsx';
import { Switch } from '../../components/Switch.tsx';
import { useEnterSends } from '../../components/use-enter-sends.ts';
import { LANGUAGES, pickLanguage, t } from '../../i18n/index.ts';
import { app } from '../../state/app.ts';
import { canSearch } from '../../state/catalog.ts';
import type { Direction, Settings, Theme } from '../../state/settings.ts';
import { useApp } from '../../state/use.ts';

/** How the page looks, speaks and takes what is written. */
export function GeneralSection() {
  const settings = useApp((state) => state.settings);
  const enterSends = useEnterSends();
  const searches = useApp((state) => canSearch(state.catalog));
  const change = (members: Partial<Settings>): void => app.dispatch({ type: 'settings/changed', change: members });
  const themes: readonly (readonly [Theme, string])[] = [
    ['system', t('settings.themeSystem')],
    ['light', t('settings.themeLight')],
    ['dark', t('settings.themeDark')],
  ];
  const directions: readonly (readonly [Direction, string])[] = [
    ['auto', t('settings.directionAuto')],
    ['ltr', t('settings.directionLtr')],
    ['rtl', t('settings.directionRtl')],
  ];
  const ofBrowser = LANGUAGES[pickLanguage('', navigator.languages)];
  const sendKeys = keyNames('Mod+Enter', isAppleKeyboard()).join(' ');
  return (
    <>
      <p class="hint">{t('settings.where')}</p>
      <Choices
        label={t('settings.theme')}
        value={settings.theme}
        options={themes}
        onChange={(theme) => change({ theme })}
      />
      <label class="field">
        <span>{t('settings.language')}</span>
        <select
          id="language"
          value={settings.language}
          onChange={(event) => change({ language: event.currentTarget.value })}
        >
          <option value="">{t('settings.languageBrowser', { language: ofBrowser })}</option>
          {Object.entries(LANGUAGES).map(([code, name]) => (
            <option key={code} value={code} lang={code}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <Choices
        label={t('settings.direction')}
        value={settings.direction}
        options={directions}
        onChange={(direction) => change({ direction })}
      />
      <div class="switches">
        <Switch
          label={t('settings.motion')}
          hint={t('settings.motionHint')}
          isOn={settings.motion === 'reduced'}
          onChange={(isOn) => change({ motion: isOn ? 'reduced' : 'system' })}
        />
        <Switch
          label={t('settings.enterSends')}
          hint={t('settings.enterSendsHint', { keys: sendKeys })}
          isOn={enterSends}
          onChange={(isOn) => change({ enter: isOn ? 'send' : 'line' })}
        />
        {searches && (
          <Switch
            label={t('settings.webSearch')}
            hint={t('settings.webSearchHint')}
            isOn={settings.webSearch}
            onChange={(webSearch) => change({ webSearch })}
          />
        )}
      </div>
      <Version />
    </>
  );
}

function Version() {
  const [version, setVersion] = useState<string>();
  useEffect(() => {
    getJson<{ version: string | null }>(`${BACKEND}/version`).then(
      (answer) => setVersion(answer.version ?? undefined),
      () => {},
    );
  }, []);
  // The line is there from the beginning, so that nothing moves.
  return <p class="hint settings-version">{version === undefined ? '' : t('settings.version', { version })}</p>;
}
