import { t } from '../i18n/index.ts';
import { addressOf } from '../state/route.ts';
import { Icon } from './Icon.tsx';

export interface ProvidersLinkProps {
  readonly isPrimary?: boolean;
  readonly onClick?: () => void;
}

/** The way to where the keys of providers are entered, for whoever has no model. */
export function ProvidersLink({ isPrimary = false, onClick }: ProvidersLinkProps) {
  return (
    <a class={`button ${isPrimary ? 'is-primary' : ''}`} href={addressOf('settings', 'providers')} onClick={onClick}>
      <Icon name="key" /> {t('settings.title')} → {t('settings.providers')}
    </a>
  );
}
