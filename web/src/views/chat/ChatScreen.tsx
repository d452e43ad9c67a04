import type { ComponentType } from 'preact';
import { useEffect } from 'preact/hooks';
import { Missing } from '../../components/Missing.tsx';
import { t } from '../../i18n/index.ts';
import { useApp } from '../../state/use.ts';
import type { ScreenProps } from '../props.ts';
import { firstWords } from '../shell/first-words.ts';
import { Lazy, preload } from '../shell/Lazy.tsx';
import { Composer } from './Composer.tsx';
import type { ThreadProps } from './Thread.tsx';
import { TopBar } from './TopBar.tsx';
import { useRead } from './use-read.tsx';
import { useResumed } from './use-resumed.ts';
import { Welcome } from './Welcome.tsx';

/** Everything that shows messages, markdown above all, is three quarters of the page: it comes when the field is there. */
const loadThread = (): Promise<{ readonly default: ComponentType<ThreadProps> }> => import('./Thread.tsx');

/** A chat, or the empty page where the next one begins. */
export function ChatScreen({ path }: ScreenProps) {
  const id = path[0] ?? '';
  const chat = useApp((state) => state.chats.byId[id]);
  const isReady = useApp((state) => state.chats.ready);
  const title = chat?.title;

  useEffect(() => {
    document.title = title ? `${title} · Sluice` : 'Sluice';
  }, [title]);
  const { isLoaded, problem } = useRead(id);
  useResumed(id);

  useEffect(() => {
    firstWords()
      .then(() => preload(loadThread))
      .catch(() => {});
  }, []);

  const isMissing = id !== '' && isReady && chat === undefined;
  return (
    <>
      <TopBar chat={chat} />
      <main class="chat" aria-label={t('shell.chat')}>
        {isMissing && <Missing words={t('chat.missing')} />}
        {id === '' && <Welcome />}
        {chat !== undefined && <h1 class="hidden">{title || t('shell.untitled')}</h1>}
        {problem && <div class="missing">{problem}</div>}
        {chat !== undefined && isLoaded && <Lazy key={id} load={loadThread} props={{ chat: id }} />}
        {!isMissing && <Composer key={id} draft={id} />}
      </main>
    </>
  );
}
