import { useEffect, useState } from 'preact/hooks';
import { readChat } from '../../actions/chats.ts';
import { Problem } from '../../components/Problem.tsx';
import { t } from '../../i18n/index.ts';
import { useApp } from '../../state/use.ts';

/** Has a chat that is shown read with its messages. Says so while the browser cannot, which may pass. */
export function useRead(id: string) {
  const exists = useApp((state) => state.chats.byId[id] !== undefined);
  const isLoaded = useApp((state) => state.messages[id] !== undefined);
  const [unread, setUnread] = useState<string>();
  const read = (): void => {
    setUnread(undefined);
    readChat(id).catch(() => setUnread(id));
  };
  useEffect(() => {
    if (exists) read();
  }, [id, exists]);
  const hasFailed = exists && !isLoaded && unread === id;
  return { isLoaded, problem: hasFailed && <Problem failure={{ message: t('chat.unreadable') }} again={read} /> };
}
