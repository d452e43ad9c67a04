import { t } from '../i18n/index.ts';
import type { Failure } from '../state/model.ts';
import { reasonOf } from '../views/chat/advice.ts';
import { useIsBack } from './use-back.ts';

export interface ProblemProps {
  readonly failure: Failure | undefined;
  readonly again: () => void;
}

/** What went wrong, and the way to try once more. That is tried by itself when it was the server that was away, and is back. */
export function Problem({ failure, again }: ProblemProps) {
  useIsBack(failure, again);
  if (failure === undefined) return null;
  return (
    <p class="problem" role="alert">
      {reasonOf(failure)}{' '}
      <button type="button" class="link-button" onClick={again}>
        {t('chat.tryAgain')}
      </button>
    </p>
  );
}
