import { useEffect, useRef, useState } from 'preact/hooks';
import { toFailure } from '../api/http.ts';
import { t } from '../i18n/index.ts';
import { reasonOf } from '../views/chat/advice.ts';
import { Dialog } from './Dialog.tsx';
import { ProblemText } from './ProblemText.tsx';

export interface ConfirmProps {
  readonly title: string;
  readonly text: string;
  /** What the button says that does it. */
  readonly action: string;
  /** Closes the window unless it throws, which is shown. */
  readonly run: () => Promise<void>;
  readonly onClose: () => void;
}

/** Asks before something that cannot be taken back. */
export function Confirm({ title, text, action, run, onClose }: ConfirmProps) {
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState('');
  const isGone = useRef(false);
  useEffect(
    () => () => {
      isGone.current = true;
    },
    [],
  );
  const act = async (): Promise<void> => {
    setBusy(true);
    setProblem('');
    try {
      await run();
      // Closed meanwhile, it would close what was asked since.
      if (!isGone.current) onClose();
    } catch (thrown) {
      setProblem(reasonOf(toFailure(thrown)));
      setBusy(false);
    }
  };
  return (
    <Dialog
      title={title}
      onClose={onClose}
      actions={
        <>
          <button type="button" class="button" onClick={onClose}>
            {t('shell.cancel')}
          </button>
          <button type="button" class="button is-danger" disabled={isBusy} onClick={() => void act()}>
            {action}
          </button>
        </>
      }
    >
      <p>{text}</p>
      <ProblemText text={problem} />
    </Dialog>
  );
}
