import { useEffect, useMemo, useRef } from 'preact/hooks';
import { stop } from '../../actions/answer.ts';
import { askSideAgain } from '../../actions/compare.ts';
import { copy } from '../../components/copy.ts';
import { IconButton } from '../../components/IconButton.tsx';
import { Waiting } from '../../components/Waiting.tsx';
import { t } from '../../i18n/index.ts';
import { type Chat, isOver, type Message, textOf } from '../../state/model.ts';
import { pathTo } from '../../state/tree.ts';
import { useApp } from '../../state/use.ts';
import { ErrorBox } from '../chat/ErrorBox.tsx';
import { FileChips } from '../chat/FileChips.tsx';
import { FoldedText } from '../chat/FoldedText.tsx';
import { Info } from '../chat/Info.tsx';
import { Markdown } from '../chat/Markdown.tsx';
import { Media } from '../chat/Media.tsx';
import { Reasoning } from '../chat/Reasoning.tsx';
import { ServerNotes } from '../chat/ServerNotes.tsx';
import { Sources } from '../chat/Sources.tsx';
import { ToolCalls } from '../chat/ToolCalls.tsx';

export interface SideThreadProps {
  readonly chat: Chat;
  readonly at: number;
  readonly leaf: string | undefined;
}

/** What was asked of one model, and what it answered. Follows the end while one is there. */
export function SideThread({ chat, at, leaf }: SideThreadProps) {
  const messages = useApp((state) => state.messages[chat.id]);
  const ids = useMemo(() => pathTo(messages ?? {}, leaf), [messages, leaf]);
  const scroll = useRef<HTMLDivElement>(null);
  const inner = useRef<HTMLDivElement>(null);
  const follows = useRef(true);
  useEffect(() => {
    const area = scroll.current;
    if (area === null || inner.current === null) return;
    const toEnd = (): void => {
      if (follows.current) area.scrollTop = area.scrollHeight;
    };
    toEnd();
    const observer = new ResizeObserver(toEnd);
    observer.observe(inner.current);
    return () => observer.disconnect();
  }, []);
  return (
    <div
      ref={scroll}
      class="side-scroll"
      role="log"
      aria-live="off"
      aria-label={t('chat.conversation')}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard
      tabIndex={0}
      onScroll={({ currentTarget: area }) => {
        follows.current = area.scrollHeight - area.scrollTop - area.clientHeight < 48;
      }}
    >
      <div ref={inner} class="side-thread">
        {ids.map((message) =>
          message.role === 'user' ? (
            <Question key={message.id} message={message} />
          ) : (
            <SideAnswer key={message.id} chat={chat} at={at} message={message} isLast={message.id === leaf} />
          ),
        )}
      </div>
    </div>
  );
}

function Question({ message }: { readonly message: Message }) {
  const text = textOf(message);
  const files = message.parts.filter((part) => part.type === 'file');
  return (
    <article class="message question" aria-label={t('chat.you')}>
      <h2 class="hidden">{t('chat.you')}</h2>
      {files.length > 0 && <FileChips files={files} />}
      {text !== '' && <FoldedText text={text} />}
    </article>
  );
}

interface SideAnswerProps {
  readonly chat: Chat;
  readonly at: number;
  readonly message: Message;
  readonly isLast: boolean;
}

function SideAnswer({ chat, at, message, isLast }: SideAnswerProps) {
  const isRunning = useApp((state) => state.streams[message.id] !== undefined);
  const last = message.parts.length - 1;
  const hasShown = message.parts.length > 0 || message.reasoning !== undefined || message.toolCalls !== undefined;
  return (
    <article class="message answer" aria-label={t('chat.answer')} aria-busy={isRunning}>
      <h2 class="hidden">{t('chat.answer')}</h2>
      {message.reasoning !== undefined && <Reasoning message={message} isRunning={isRunning} />}
      {message.toolCalls !== undefined && <ToolCalls calls={message.toolCalls} isRunning={isRunning} />}
      <div class="body">
        {message.parts.map((part, index) => {
          // Parts only ever come behind the others.
          if (part.type === 'text') return <Markdown key={index} text={part.text} done={!isRunning || index < last} />;
          return part.type === 'media' ? <Media key={index} part={part} /> : null;
        })}
      </div>
      {isRunning && !hasShown && <Waiting label={t('chat.waiting')} />}
      {message.notes !== undefined && <ServerNotes notes={message.notes} />}
      {message.sources !== undefined && <Sources sources={message.sources} />}
      {!isRunning && <p class="note">{noteOf(message)}</p>}
      {message.error !== undefined && !isRunning && (
        <ErrorBox failure={message.error} message={message} isLast={false} />
      )}
      <footer class={`message-foot ${isRunning ? '' : 'line'}`}>
        {isRunning ? (
          <IconButton icon="stop" label={t('chat.stop')} onClick={() => stop(message)} />
        ) : (
          <>
            <span class="message-actions">
              {textOf(message) !== '' && (
                <IconButton icon="copy" label={t('chat.copy')} onClick={() => void copy(textOf(message))} />
              )}
              {isLast && (
                <IconButton icon="again" label={t('chat.regenerate')} onClick={() => askSideAgain(chat, at, message)} />
              )}
            </span>
            <Info message={message} />
          </>
        )}
      </footer>
    </article>
  );
}

/** How an answer ended, where that is not obvious. */
function noteOf(message: Message): string {
  if (message.finish === 'stopped') return t('chat.stopped');
  if (message.finish === 'length') return t('chat.tooLong');
  if (message.finish === 'content_filter') return t('chat.filtered');
  return isOver(message) ? '' : t('chat.brokeOff');
}
