import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { IconButton } from '../../components/IconButton.tsx';
import { spoken, t } from '../../i18n/index.ts';
import { whenIdle } from '../../idle.ts';
import { runningIn } from '../../state/streams.ts';
import { childrenOf, type MessageMap, pathTo } from '../../state/tree.ts';
import { useApp } from '../../state/use.ts';
import { MessageView } from './MessageView.tsx';
import { type Anchor, FIRST_BATCH, holdPlace, messageIn, placeIn, places, topIn } from './places.ts';
import { AT_END, isAtEnd, type Place, useEnd } from './use-end.ts';

/** So many earlier ones after the first, each time that there is nothing else to do. */
const NEXT_BATCH = 60;
/** And so many before the one at which somebody reads. */
const AROUND = 8;

export interface ThreadProps {
  readonly chat: string;
}

/** The shown branch of a chat. Follows the end while one is there, and leaves those alone who went up to read. */
export default function Thread({ chat }: ThreadProps) {
  const tree = useApp((state) => state.messages[chat] ?? {}, sameShape);
  const leaf = useApp((state) => state.chats.byId[chat]?.leaf);
  const running = useApp((state) => runningIn(state.streams, chat));
  const language = spoken();
  const path = useMemo(() => pathTo(tree, leaf).map(({ id }) => id), [tree, leaf]);
  const [count, setCount] = useState(() => {
    const at = path.indexOf(places.get(chat)?.id ?? '');
    return at < 0 ? FIRST_BATCH : Math.max(FIRST_BATCH, path.length - at + AROUND);
  });
  const shown = path.slice(-count);

  const before = useRef(path);
  const anchor = useRef<Anchor | undefined>(places.get(chat));
  const place: Place = (area, room, followsEnd) => {
    const to = anchor.current;
    anchor.current = undefined;
    room.style.minBlockSize = '';
    const element = to && messageIn(area, to.id);
    if (to === undefined || element === undefined) return false;
    const top = area.scrollTop + topIn(area, element) - to.top;
    // A version that is shorter, as one that only begins is, needs the room that the other had. Whoever followed the end goes on
    // with that; whoever read above does not come to the end by this.
    const below = followsEnd ? 0 : AT_END + 1;
    room.style.minBlockSize = `${top + area.clientHeight + below}px`;
    area.scrollTop = top;
    return true;
  };
  const { scroll, inner, onScroll, onShift, isAway, toEnd } = useEnd(leaf, place, places.has(chat));
  if (before.current !== path) {
    anchor.current = anchorOf(scroll.current, before.current, path);
    before.current = path;
  }
  // Before the place is let go of, which may change it.
  useLayoutEffect(
    () => () => {
      const area = scroll.current;
      const place = area === null || isAtEnd(area) ? undefined : placeIn(area);
      if (place === undefined) places.delete(chat);
      else places.set(chat, place);
    },
    [chat],
  );
  useLayoutEffect(() => {
    const [area, room] = [scroll.current, inner.current];
    return area === null || room === null ? undefined : holdPlace(chat, area, room);
  }, [chat, leaf]);
  const children = useMemo(() => childrenOf(tree), [tree]);
  const rows = useMemo(
    () =>
      shown.map((id, index) => {
        const siblings = children.get(tree[id]?.parent ?? null) ?? [];
        const isLast = index === shown.length - 1;
        return (
          <MessageView
            key={id}
            chat={chat}
            id={id}
            siblings={siblings.length > 1 ? siblings.map((each) => each.id) : NONE}
            isLast={isLast}
            isNear={index >= shown.length - 8 || id === anchor.current?.id}
            onDressed={onShift}
          />
        );
      }),
    [path, children, shown.length, language],
  );
  useEffect(() => {
    if (count >= path.length) return;
    return whenIdle(() => setCount(count + NEXT_BATCH), 500);
  }, [count, path.length]);

  return (
    <div class="thread-frame">
      <section
        ref={scroll}
        id="scroll"
        class="thread-scroll"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard
        tabIndex={0}
        aria-label={t('chat.conversation')}
        onScroll={onScroll}
      >
        <div ref={inner} class="thread" role="log" aria-live="off" aria-busy={running !== undefined}>
          {rows}
        </div>
      </section>
      {isAway && <IconButton icon="toEnd" class="to-end" label={t('chat.toEnd')} onClick={toEnd} />}
    </div>
  );
}

const NONE: readonly string[] = [];

/** The version of a message that comes into the place of another one; none where there are only more messages. */
function anchorOf(area: HTMLElement | null, before: readonly string[], now: readonly string[]): Anchor | undefined {
  const at = before.findIndex((id, index) => id !== now[index]);
  const [old, id] = [before[at], now[at]];
  const element = old === undefined || area === null ? undefined : messageIn(area, old);
  if (id === undefined || element === undefined || area === null) return undefined;
  return { id, top: topIn(area, element) };
}

/** Whether two trees have the same messages at the same places, whatever is in them. */
function sameShape(a: MessageMap, b: MessageMap): boolean {
  if (a === b) return true;
  const ids = Object.keys(b);
  return (
    ids.length === Object.keys(a).length && ids.every((id) => a[id]?.parent === b[id]?.parent && a[id] !== undefined)
  );
}
