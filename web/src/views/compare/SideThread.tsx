import { useMemo } from 'preact/hooks';
import { askSideAgain } from '../../actions/compare.ts';
import { IconButton } from '../../components/IconButton.tsx';
import { t } from '../../i18n/index.ts';
import { type Chat, type Message, textOf } from '../../state/model.ts';
import { pathTo } from '../../state/tree.ts';
import { useApp } from '../../state/use.ts';
import { Answer } from '../chat/Answer.tsx';
import { FileChips } from '../chat/FileChips.tsx';
import { FoldedText } from '../chat/FoldedText.tsx';
import { type MessageAction, messageActions } from '../chat/message-actions.ts';
import { useEnd } from '../chat/use-end.ts';

export interface SideThreadProps {
  readonly chat: Chat;
  readonly at: number;
  readonly leaf: string | undefined;
}

/** What was asked of one model, and what it answered. */
export function SideThread({ chat, at, leaf }: SideThreadProps) {
  const messages = useApp((state) => state.messages[chat.id]);
  const ids = useMemo(() => pathTo(messages ?? {}, leaf), [messages, leaf]);
  const { scroll, inner, onScroll, isAway, toEnd } = useEnd(leaf);
  return (
    <div class="thread-frame">
      <section
        ref={scroll}
        class="side-scroll"
        aria-label={t('shell.about', { name: t('compare.side', { at: at + 1 }), about: t('chat.conversation') })}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard
        tabIndex={0}
        onScroll={onScroll}
      >
        <div ref={inner} class="side-thread" role="log" aria-live="off">
          {ids.map((message) =>
            message.role === 'user' ? (
              <Question key={message.id} message={message} />
            ) : (
              <SideAnswer key={message.id} at={at} message={message} isLast={message.id === leaf} />
            ),
          )}
        </div>
      </section>
      {isAway && <IconButton icon="toEnd" class="to-end" label={t('chat.toEnd')} onClick={toEnd} />}
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
  readonly at: number;
  readonly message: Message;
  readonly isLast: boolean;
}

/** Goes on only with the question to both, and is answered again only by the model of its side. */
function SideAnswer({ at, message, isLast }: SideAnswerProps) {
  const isRunning = useApp((state) => state.streams[message.id] !== undefined);
  const again = isLast ? () => void askSideAgain(at, message) : undefined;
  const actions = messageActions.flatMap((action): MessageAction[] => {
    if (action.id === 'regenerate') return again === undefined ? [] : [{ ...action, run: again }];
    return action.id === 'compare' ? [] : [action];
  });
  return (
    <article class="message answer" aria-label={t('chat.answer')} aria-busy={isRunning}>
      <h2 class="hidden">{t('chat.answer')}</h2>
      <Answer message={message} isLast={false} again={again} actions={actions} />
    </article>
  );
}
