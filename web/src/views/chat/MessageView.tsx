import { useRef } from 'preact/hooks';
import { regenerate } from '../../actions/answer.ts';
import { showBranch } from '../../actions/chats.ts';
import { IconButton } from '../../components/IconButton.tsx';
import { t } from '../../i18n/index.ts';
import { textOf } from '../../state/model.ts';
import { useApp } from '../../state/use.ts';
import { Answer } from './Answer.tsx';
import { messageActions } from './message-actions.ts';
import { Question } from './Question.tsx';
import { useDress } from './use-dress.ts';

export interface MessageViewProps {
  readonly chat: string;
  readonly id: string;
  /** All messages in this place, this one included; empty when it is the only one. */
  readonly siblings: readonly string[];
  readonly isLast: boolean;
  /** Likely to be seen at once. */
  readonly isNear: boolean;
  /** Told once it is dressed up later: by how many pixels what a reader sees goes down thereby. */
  readonly onDressed: (shift: number) => void;
}

/** One message. Far from what is on the screen it is only its text: dressing up thousands of them would take seconds. */
export function MessageView({ chat, id, siblings, isLast, isNear, onDressed }: MessageViewProps) {
  const message = useApp((state) => state.messages[chat]?.[id]);
  const node = useRef<HTMLElement>(null);
  const dress = useDress(node, isNear, onDressed);
  if (message === undefined) return null;
  const isAnswer = message.role === 'assistant';
  const branches = siblings.length > 1 && <Branches chat={chat} id={id} siblings={siblings} />;
  return (
    <article
      ref={node}
      class={`message ${isAnswer ? 'answer' : 'question'} ${dress === 'dressing' ? 'is-dressing' : ''}`}
      aria-label={t(isAnswer ? 'chat.answer' : 'chat.you')}
      data-message={id}
    >
      <h2 class="hidden">{t(isAnswer ? 'chat.answer' : 'chat.you')}</h2>
      {dress !== 'dressed' && <div class="undressed">{textOf(message)}</div>}
      {dress !== 'plain' && isAnswer && (
        <Answer
          message={message}
          isLast={isLast}
          again={(each) => void regenerate(each)}
          actions={messageActions}
          branches={branches}
        />
      )}
      {dress !== 'plain' && !isAnswer && <Question message={message} branches={branches} />}
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
