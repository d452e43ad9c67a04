import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { ask, continueAnswer, isAloneIn } from '../../actions/answer.ts';
import { editAnswer } from '../../actions/messages.ts';
import { IconButton } from '../../components/IconButton.tsx';
import { useDraft } from '../../components/use-draft.ts';
import { Waiting } from '../../components/Waiting.tsx';
import { t } from '../../i18n/index.ts';
import { app } from '../../state/app.ts';
import { isOver, type Message, textOf } from '../../state/model.ts';
import { useApp } from '../../state/use.ts';
import { Editor } from './Editor.tsx';
import { ErrorBox } from './ErrorBox.tsx';
import { Info } from './Info.tsx';
import { Markdown } from './Markdown.tsx';
import { Media } from './Media.tsx';
import type { MessageAction } from './message-actions.ts';
import { Reasoning } from './Reasoning.tsx';
import { ServerNotes } from './ServerNotes.tsx';
import { Sources } from './Sources.tsx';
import { ToolCalls } from './ToolCalls.tsx';

export interface AnswerProps {
  readonly message: Message;
  /** Whether it can be gone on with. */
  readonly isLast: boolean;
  /** Has its question answered once more, where that is possible. */
  readonly again: ((message: Message) => void) | undefined;
  readonly actions: readonly MessageAction[];
  readonly branches?: ComponentChildren;
}

/** What a model answered, with all that is known about it. */
export function Answer({ message, isLast, again, actions, branches }: AnswerProps) {
  const [isEditing, setEditing] = useState(false);
  const running = useApp((state) => state.streams[message.id]);
  const isRunning = running !== undefined;
  const last = message.parts.length - 1;
  const hasShown = message.parts.length > 0 || message.reasoning !== undefined || message.toolCalls !== undefined;
  if (isEditing) return <AnswerEditor message={message} close={() => setEditing(false)} />;
  return (
    <>
      {message.reasoning !== undefined && <Reasoning message={message} isRunning={isRunning} />}
      {message.toolCalls !== undefined && <ToolCalls calls={message.toolCalls} isRunning={isRunning} />}
      <div class="body">
        {message.parts.map((part, index) => {
          // Parts only ever come behind the others.
          if (part.type === 'text') return <Markdown key={index} text={part.text} done={!isRunning || index < last} />;
          return part.type === 'media' ? <Media key={index} part={part} /> : null;
        })}
        {message.parts.length === 0 && message.preview !== undefined && <Markdown text={message.preview} done={true} />}
      </div>
      {isRunning && !hasShown && <Waiting label={t('chat.waiting')} />}
      {running?.phase === 'lost' && (
        <p class="note" role="status">
          {t('chat.reconnecting')}
        </p>
      )}
      {message.notes !== undefined && <ServerNotes notes={message.notes} />}
      {message.sources !== undefined && <Sources sources={message.sources} />}
      {!isRunning && <Note message={message} isLast={isLast} again={again} />}
      {message.error !== undefined && !isRunning && (
        <ErrorBox failure={message.error} message={message} isLast={isLast} again={again} />
      )}
      {isRunning ? (
        <footer class="message-foot" />
      ) : (
        <footer class="message-foot line">
          {branches}
          <span class="message-actions">
            {actions
              .filter(({ when }) => when(message, isLast))
              .map(({ id, label, icon, run }) => (
                <IconButton
                  key={id}
                  icon={icon}
                  label={t(label)}
                  onClick={() => run(message, () => setEditing(true))}
                />
              ))}
          </span>
          <Info message={message} />
        </footer>
      )}
      {isLast && !isRunning && message.suggestions !== undefined && (
        <Suggestions chat={message.chat} texts={message.suggestions} />
      )}
    </>
  );
}

function AnswerEditor({ message, close }: { readonly message: Message; readonly close: () => void }) {
  const draft = useDraft(`${message.chat}/${message.id}`, textOf(message));
  return (
    <Editor
      label={t('chat.editAnswer')}
      draft={draft}
      action={t('shell.keep')}
      enterSends={false}
      onDone={(text) => {
        draft.forget();
        if (text !== '') editAnswer(message, text);
        close();
      }}
      close={close}
    />
  );
}

/** How an answer ended, where that is not obvious. */
function Note({ message, isLast, again }: Pick<AnswerProps, 'message' | 'isLast' | 'again'>) {
  const text = noteOf(message);
  const hasText = textOf(message) !== '';
  if (text === undefined) return null;
  return (
    <p class="note">
      {text}
      {isLast && message.finish === 'length' && hasText && (
        <button type="button" class="link-button" onClick={() => void continueAnswer(message)}>
          {t('chat.continue')}
        </button>
      )}
      {again !== undefined && (!isOver(message) || isEmpty(message)) && (
        <button type="button" class="link-button" onClick={() => again(message)}>
          {t('chat.tryAgain')}
        </button>
      )}
    </p>
  );
}

function noteOf(message: Message): string | undefined {
  if (message.finish === 'stopped') return t('chat.stopped');
  if (message.finish === 'length') return t('chat.tooLong');
  if (message.finish === 'content_filter') return t('chat.filtered');
  if (message.finish === 'tool_calls' && message.toolCalls?.some(({ result }) => result === undefined)) {
    return t('chat.wantsTool');
  }
  if (isEmpty(message)) return t('chat.empty');
  return isOver(message) ? undefined : t('chat.brokeOff');
}

/** Whether the model ended without having said anything. */
function isEmpty({ parts, toolCalls, error, finish }: Message): boolean {
  return (
    finish !== undefined && finish !== 'stopped' && error === undefined && parts.length === 0 && !toolCalls?.length
  );
}

function Suggestions({ chat, texts }: { readonly chat: string; readonly texts: readonly string[] }) {
  const askIt = async (text: string): Promise<void> => {
    const isAlone = await isAloneIn(chat);
    const asked = app.get().chats.byId[chat];
    // Another tab may have deleted it.
    if (isAlone && asked !== undefined) ask(asked, [{ type: 'text', text }]);
  };
  return (
    <ul class="suggestions" aria-label={t('chat.suggestions')}>
      {texts.map((text) => (
        <li key={text}>
          <button type="button" dir="auto" onClick={() => void askIt(text)}>
            {text}
          </button>
        </li>
      ))}
    </ul>
  );
}
