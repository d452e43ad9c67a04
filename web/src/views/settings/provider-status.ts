import { t } from '../../i18n/index.ts';
import type { CatalogState, ProviderEntry } from '../../state/catalog.ts';
import type { Settings } from '../../state/settings.ts';

interface ProviderStatus {
  /** Whether it can be asked. */
  readonly isReady: boolean;
  /** Where what it needs comes from, or has to come from. */
  readonly text: string;
}

/** What a provider needs, and where that is. `hasOwnKey`: the person entered a key in this browser. */
export function statusOf(provider: ProviderEntry, hasOwnKey: boolean): ProviderStatus {
  const { origin, key_variable: variable, cookie_domain: domain, active_by_default: isOn } = provider;
  if (hasOwnKey) return { isReady: true, text: t('settings.statusOwn') };
  if (domain !== null) {
    return { isReady: isOn, text: t(isOn ? 'settings.statusHasCookies' : 'settings.statusNeedsCookies', { domain }) };
  }
  if (!isOn) {
    const text = variable === null ? t('settings.statusNeedsKey') : t('settings.statusNeedsVariable', { variable });
    return { isReady: false, text };
  }
  if (origin === 'environment') {
    const text = variable === null ? t('settings.statusEnvironment') : t('settings.statusVariable', { variable });
    return { isReady: true, text };
  }
  if (origin === 'local') return { isReady: true, text: t('settings.statusLocal') };
  return { isReady: true, text: t(origin === 'embedded' ? 'settings.statusEmbedded' : 'settings.statusFile') };
}

/** Whether a provider has not answered to the key that the person entered for it: that may be good, or not. */
export function isUntested(name: string, keys: Settings['keys'], own: CatalogState['own']): boolean {
  return keys[name] !== undefined && own[name] === 'failed';
}
