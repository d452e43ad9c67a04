import { continueAnswer } from '../../actions/answer.ts';
import { Icon } from '../../components/Icon.tsx';
import { t } from '../../i18n/index.ts';
import { app } from '../../state/app.ts';
import type { Failure, Message } from '../../state/model.ts';
import { adviceFor, isAboutKey } from './advice.ts';

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
  const openKey = (): void => app.dispatch({ type: 'overlay/opened', name: 'key', about: provider });
  return (
    <div class="error" role="alert">
      <Icon name="warning" />
      <div>
        {failure.message !== '' && (
          <p>
            <strong>{failure.message}</strong>
          </p>
        )}
        <p>{t(adviceFor(failure))}</p>
        <p class="error-actions">
          {isAboutKey(failure) && provider !== '' && (
            <button type="button" class="button is-primary" onClick={openKey}>
              <Icon name="key" /> {t('chat.enterKey', { provider: label })}
            </button>
          )}
          {isLast && message.parts.length > 0 && (
            <button type="button" class="button" onClick={() => continueAnswer(message)}>
              {t('chat.continue')}
            </button>
          )}
          {again !== undefined && (
            <button type="button" class="button" onClick={() => again(message)}>
              {t('chat.tryAgain')}
            </button>
          )}
        </p>
      </div>
    </div>
  );
}
