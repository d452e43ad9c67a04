import { useEffect, useRef, useState } from 'preact/hooks';
import { regenerate } from '../../actions/answer.ts';
import { showBranch } from '../../actions/chats.ts';
import { IconButton } from '../../components/IconButton.tsx';
import { t } from '../../i18n/index.ts';
import { textOf } from '../../state/model.ts';
import { useApp } from '../../state/use.ts';
import { Answer } from './Answer.tsx';
import { messageActions } from './message-actions.ts';
import { Question } from './Question.tsx';

export interface MessageViewProps {
  readonly chat: string;
  readonly id: string;
  /** All messages in this place, this one included; empty when it is the only one. */
  readonly siblings: readonly string[];
  readonly isLast: boolean;
  /** Likely to be seen at once. */
  readonly isNear: boolean;
}

/** One message. Far from what is on the screen it is only its text: dressing up thousands of them would take seconds. */
export function MessageView({ chat, id, siblings, isLast, isNear }: MessageViewProps) {
  const message = useApp((state) => state.messages[chat]?.[id]);
  const node = useRef<HTMLElement>(null);
  const [isDressed, setDressed] = useState(isNear);
  useEffect(() => {
    if (isDressed || node.current === null) return;
    return whenNear(node.current, () => setDressed(true));
  }, [isDressed]);
  if (message === undefined) return null;
  const isAnswer = message.role === 'assistant';
  const branches = siblings.length > 1 && <Branches chat={chat} id={id} siblings={siblings} />;
  return (
    <article
      ref={node}
      class={`message ${isAnswer ? 'answer' : 'question'}`}
      aria-label={t(isAnswer ? 'chat.answer' : 'chat.you')}
      data-message={id}
    >
      <h2 class="hidden">{t(isAnswer ? 'chat.answer' : 'chat.you')}</h2>
      {!isDressed && <div class="undressed">{textOf(message)}</div>}
      {isDressed && isAnswer && (
        <Answer
          message={message}
          isLast={isLast}
          again={(each) => void regenerate(each)}
          actions={messageActions}
          branches={branches}
        />
      )}
      {isDressed && !isAnswer && <Question message={message} branches={branches} />}
    </article>
  );
}

function Branches({ chat, id, siblings }: Pick<MessageViewProps, 'chat' | 'id' | 'siblings'>) {
  const at = siblings.indexOf(id);
  const go = (step: number): void => {
    const next = siblings[at + step];
    if (next !== undefined) showBranch(chat, next);
  };
  return (
    <span class="branches">
      <IconButton icon="left" label={t('chat.branchBefore')} disabled={at === 0} onClick={() => go(-1)} />
      <span aria-hidden="true">
        {at + 1}/{siblings.length}
      </span>
      <span class="hidden">{t('chat.branchOf', { at: at + 1, count: siblings.length })}</span>
      <IconButton
        icon="right"
        label={t('chat.branchAfter')}
        disabled={at === siblings.length - 1}
        onClick={() => go(1)}
      />
    </span>
  );
}

const waiting = new WeakMap<Element, () => void>();
let observer: IntersectionObserver | undefined;

/** Calls `run` once when `element` comes near the screen. Returns the way to end it. */
function whenNear(element: Element, run: () => void): () => void {
  observer ??= new IntersectionObserver(
    (entries) => {
      for (const { isIntersecting, target } of entries) if (isIntersecting) waiting.get(target)?.();
    },
    { rootMargin: '1200px 0px' },
  );
  waiting.set(element, run);
  observer.observe(element);
  return () => {
    waiting.delete(element);
    observer?.unobserve(element);
  };
}
