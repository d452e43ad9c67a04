import type { ComponentType } from 'preact';
import type { IconName } from '../../components/Icon.tsx';
import type { Key } from '../../i18n/dictionary.ts';
import { CookiesSection } from './CookiesSection.tsx';
import { DataSection } from './DataSection.tsx';
import { GeneralSection } from './GeneralSection.tsx';
import { ProvidersSection } from './ProvidersSection.tsx';
import { ShortcutsSection } from './ShortcutsSection.tsx';
import { VoicesSection } from './VoicesSection.tsx';

/** A part of the settings, at `#/settings/<name>`. */
export interface Section {
  readonly name: string;
  readonly title: Key;
  readonly icon: IconName;
  readonly component: ComponentType;
}

/** In the order of the list; the first one is at `#/settings`. */
export const sections: readonly [Section, ...Section[]] = [
  { name: 'general', title: 'settings.general', icon: 'settings', component: GeneralSection },
  { name: 'providers', title: 'settings.providers', icon: 'key', component: ProvidersSection },
  { name: 'cookies', title: 'settings.cookies', icon: 'upload', component: CookiesSection },
  { name: 'voices', title: 'settings.voices', icon: 'speaker', component: VoicesSection },
  { name: 'shortcuts', title: 'settings.shortcuts', icon: 'keyboard', component: ShortcutsSection },
  { name: 'data', title: 'settings.data', icon: 'download', component: DataSection },
];
