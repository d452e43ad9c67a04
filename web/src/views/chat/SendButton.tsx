import { stopAll } from '../../actions/stop.ts';
import { Icon } from '../../components/Icon.tsx';
import { ignoreSecond } from '../../components/ignore-second.ts';
import { focusField } from '../../components/keep-focus.ts';
import { t } from '../../i18n/index.ts';
import { runningIn } from '../../state/streams.ts';
import { useApp } from '../../state/use.ts';

interface SendButtonProps {
  /** Its id, or empty for a new one. */
  readonly chat: string;
  readonly isDisabled: boolean;
}

/** Sends what is written; while an answer of the chat comes, stops it. */
export function SendButton({ chat, isDisabled }: SendButtonProps) {
  const running = useApp((state) => runningIn(state.streams, chat));
  const stopRunning = (): void => {
    stopAll(chat);
    // The button is that for sending then, which waits for words.
    focusField('#prompt');
  };
  // Two buttons, not one that changes: what is pressed to stop an answer must not send what is being written.
  return running === undefined ? (
    <button
      key="send"
      type="submit"
      id="send"
      class="send"
      aria-label={t('composer.send')}
      title={t('composer.send')}
      disabled={isDisabled}
      onClick={ignoreSecond}
    >
      <Icon name="send" size={18} />
    </button>
  ) : (
    <button
      key="stop"
      type="button"
      id="send"
      class="send is-stop"
      aria-label={t('chat.stop')}
      title={t('chat.stop')}
      onClick={(event) => {
        if (!ignoreSecond(event)) stopRunning();
      }}
    >
      <Icon name="stop" size={18} />
    </button>
  );
}
