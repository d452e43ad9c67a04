import { useRef, useState } from 'preact/hooks';
import { toFailure } from '../../api/http.ts';
import { copy } from '../../components/copy.ts';
import { Dialog } from '../../components/Dialog.tsx';
import { Icon } from '../../components/Icon.tsx';
import { ProblemText } from '../../components/ProblemText.tsx';
import { toast } from '../../components/toast.ts';
import { t } from '../../i18n/index.ts';
import { addressOf } from '../../state/route.ts';
import { useApp } from '../../state/use.ts';
import { reasonOf } from '../chat/advice.ts';
import type { OverlayProps } from '../props.ts';
import { shareChat, unshareChat } from './keeper.ts';

/** Makes, shows and takes back the link to a chat. `about` is its id. */
export default function ShareDialog({ about, close }: OverlayProps) {
  const chat = useApp((state) => state.chats.byId[about]);
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState('');
  const field = useRef<HTMLInputElement>(null);
  if (chat === undefined) return null;
  const title = chat.title || t('shell.untitled');
  const link = chat.share === undefined ? '' : `${location.origin}/${addressOf('share', chat.share)}`;

  const attempt = async (run: () => Promise<unknown>): Promise<void> => {
    setBusy(true);
    setProblem('');
    try {
      await run();
    } catch (thrown) {
      setProblem(reasonOf(toFailure(thrown)));
    } finally {
      setBusy(false);
    }
  };
  const start = (): Promise<void> =>
    attempt(async () => {
      await shareChat(about);
      field.current?.select();
    });
  const stop = (): Promise<void> =>
    attempt(async () => {
      await unshareChat(about);
      close();
      toast(t('share.stopped', { title }));
    });

  return (
    <Dialog title={t('share.title')} onClose={close} class="share">
      <p dir="auto">
        <strong>{title}</strong>
      </p>
      <p class="hint">{t('share.explain')}</p>
      {link !== '' && (
        <label class="field">
          <span>{t('share.link')}</span>
          <input ref={field} readOnly value={link} onFocus={(event) => event.currentTarget.select()} />
        </label>
      )}
      <ProblemText text={problem} />
      <div class="row-end">
        {link === '' ? (
          <button type="button" class="button is-primary" disabled={isBusy} onClick={() => void start()}>
            <Icon name="share" /> {t('share.start')}
          </button>
        ) : (
          <>
            <button type="button" class="button is-quiet is-danger" disabled={isBusy} onClick={() => void stop()}>
              {t('share.stop')}
            </button>
            <a class="button" href={link} target="_blank" rel="noopener">
              <Icon name="external" /> {t('share.open')}
            </a>
            <button type="button" class="button is-primary" onClick={() => void copy(link)}>
              <Icon name="copy" /> {t('share.copy')}
            </button>
          </>
        )}
      </div>
    </Dialog>
  );
}
