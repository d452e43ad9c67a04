import { useEffect, useState } from 'preact/hooks';
import { continueAnswer } from '../../actions/answer.ts';
import { openPicker } from '../../commands/choosing.ts';
import { Icon } from '../../components/Icon.tsx';
import { ProvidersLink } from '../../components/ProvidersLink.tsx';
import { useIsBack } from '../../components/use-back.ts';
import { t } from '../../i18n/index.ts';
import { app } from '../../state/app.ts';
import { hasNone, wayIn } from '../../state/catalog.ts';
import type { Failure, Message } from '../../state/model.ts';
import { addressOf } from '../../state/route.ts';
import { useApp } from '../../state/use.ts';
import { adviceOf, isAboutKey, isAboutModel } from './advice.ts';

export interface ErrorBoxProps {
  readonly failure: Failure;
  readonly message: Message;
  /** Only the last answer can be gone on with. */
  readonly isLast: boolean;
  readonly again: ((message: Message) => void) | undefined;
}

/** What went wrong, and what to do about it. */
export function ErrorBox({ failure, message, isLast, again }: ErrorBoxProps) {
  const { provider = '', label = provider } = message;
  const asked = useApp(({ catalog }) => catalog.providers.find(({ name }) => name === provider));
  const way = wayIn(asked);
  const isEmpty = useApp((state) => hasNone(state.catalog));
  const wantsModel = isAboutModel(failure);
  // Nobody knows whose key it should be, or there is nothing else to choose.
  const wantsProviders = isAboutKey(failure) ? provider === '' : wantsModel && isEmpty;
  const isBack = useIsBack(failure);
  const wait = useSecondsUntil(failure.retryAt ?? 0);
  const openKey = (): void => app.dispatch({ type: 'overlay/opened', name: 'key', about: provider });
  return (
    <div class="error" role="alert">
      <Icon name="warning" />
      <div>
        {failure.message !== '' && !isBack && (
          <p>
            <strong>{failure.message}</strong>
          </p>
        )}
        <p>{t(isBack ? 'errors.back' : wantsModel && isEmpty ? 'welcome.noModels' : adviceOf(failure, asked))}</p>
        <p class="error-actions" aria-live="off">
          {isAboutKey(failure) && way === 'cookies' && (
            <a class="button is-primary" href={addressOf('settings', 'cookies')}>
              <Icon name="upload" /> {t('settings.uploadCookies')}
            </a>
          )}
          {isAboutKey(failure) && way === 'key' && provider !== '' && (
            <button type="button" class="button is-primary" onClick={openKey}>
              <Icon name="key" /> {t('chat.enterKey', { provider: label })}
            </button>
          )}
          {wantsProviders && <ProvidersLink />}
          {wantsModel && !isEmpty && (
            <button type="button" class="button" onClick={(event) => openPicker(event.currentTarget)}>
              {t('shell.chooseModel')}
            </button>
          )}
          {wait > 0 && (
            <button type="button" class="button" disabled>
              {t('chat.tryAgainIn', { time: clock(wait) })}
            </button>
          )}
          {wait === 0 && isLast && message.parts.length > 0 && (
            <button type="button" class="button" onClick={() => void continueAnswer(message)}>
              {t('chat.continue')}
            </button>
          )}
          {wait === 0 && again !== undefined && (
            <button type="button" class="button" onClick={() => again(message)}>
              {t('chat.tryAgain')}
            </button>
          )}
        </p>
      </div>
    </div>
  );
}

/** The seconds that are left until a moment, counted down to 0. */
function useSecondsUntil(moment: number): number {
  const [now, setNow] = useState(Date.now);
  const left = Math.max(0, Math.ceil((moment - now) / 1_000));
  useEffect(() => {
    if (left === 0) return;
    const timer = setTimeout(() => setNow(Date.now()), 1_000);
    return () => clearTimeout(timer);
  }, [left, now]);
  return left;
}

/** 75 → 1:15 */
function clock(seconds: number): string {
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}
