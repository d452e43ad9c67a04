import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { openChat } from '../../actions/chats.ts';
import { Icon } from '../../components/Icon.tsx';
import { Missing } from '../../components/Missing.tsx';
import { ScreenHead } from '../../components/ScreenHead.tsx';
import { Waiting } from '../../components/Waiting.tsx';
import { t } from '../../i18n/index.ts';
import { app } from '../../state/app.ts';
import { Markdown } from '../chat/Markdown.tsx';
import type { ScreenProps } from '../props.ts';
import { toWholeChat } from '../transfer/imported.ts';
import { readShared, type SharedMessage, toOwn } from './shared-chat.ts';
import { useShared } from './use-shared.ts';
import './share.css';

/** Nearer to the end than this, in pixels, counts as being there. */
const AT_END = 48;

/** A chat that somebody shares, for reading. */
export default function SharedScreen({ path }: ScreenProps) {
  const { body, state } = useShared(path[0] ?? '');
  const chat = useMemo(() => (body === undefined ? undefined : readShared(body)), [body]);
  const title = chat?.title || t('share.reader');
  useEffect(() => {
    document.title = `${title} · Sluice`;
  }, [title]);
  const area = useRef<HTMLElement>(null);
  const follow = useRef(false);
  useLayoutEffect(() => {
    if (follow.current && area.current !== null) area.current.scrollTop = area.current.scrollHeight;
  });
  const goOn = (): void => {
    const own = toWholeChat(toOwn(body), Date.now());
    if (own === undefined) return;
    app.dispatch({ type: 'chats/put', chats: [{ ...own.chat, updated: Date.now() }] });
    app.dispatch({ type: 'messages/put', messages: own.messages });
    openChat(own.chat.id);
  };
  return (
    <>
      <ScreenHead title={title}>
        {chat !== undefined && chat.messages.length > 0 && (
          <button type="button" class="button" onClick={goOn}>
            <Icon name="forward" /> <span class="where-wide">{t('share.continue')}</span>
          </button>
        )}
      </ScreenHead>
      <main
        ref={area}
        class="shared"
        // What scrolls has to be reached by keyboard.
        tabIndex={chat === undefined ? -1 : 0}
        aria-label={t('share.reader')}
        onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
          follow.current = scrollHeight - scrollTop - clientHeight < AT_END;
        }}
      >
        {state === 'reading' && <Waiting label={t('transfer.reading')} />}
        {state === 'gone' && chat === undefined && <Missing words={t('share.gone')} />}
        {chat !== undefined && (
          <div class="thread" role="log" aria-label={t('chat.conversation')} aria-live="off">
            {chat.messages.map((message, index) => (
              <Shared key={index} message={message} isDone={!chat.isRunning || index < chat.messages.length - 1} />
            ))}
          </div>
        )}
        {chat?.isRunning === true && state === 'live' && <Waiting label={t('chat.waiting')} />}
        {(chat !== undefined || state === 'lost') && (
          <p class="hint shared-state" role="status">
            {t(state === 'lost' ? 'share.lost' : state === 'gone' ? 'share.ended' : 'share.live')}
          </p>
        )}
      </main>
    </>
  );
}

function Shared({
  message: { role, text, by },
  isDone,
}: {
  readonly message: SharedMessage;
  readonly isDone: boolean;
}) {
  if (role === 'user') {
    return (
      <article class="message question" aria-label={t('share.question')}>
        <h2 class="hidden">{t('share.question')}</h2>
        <div class="bubble" dir="auto">
          {text}
        </div>
      </article>
    );
  }
  return (
    <article class="message answer" aria-label={t('chat.answer')}>
      <h2 class="hidden">{t('chat.answer')}</h2>
      <div class="body">
        <Markdown text={text} done={isDone} />
      </div>
      {by !== '' && <p class="hint">{by}</p>}
    </article>
  );
}
