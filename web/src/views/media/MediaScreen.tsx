import { useEffect, useRef, useState } from 'preact/hooks';
import { Choices } from '../../components/Choices.tsx';
import { Problem } from '../../components/Problem.tsx';
import { ScreenHead } from '../../components/ScreenHead.tsx';
import { SearchField } from '../../components/SearchField.tsx';
import { t } from '../../i18n/index.ts';
import { addressOf, goTo } from '../../state/route.ts';
import type { ScreenProps } from '../props.ts';
import './media.css';
import { Tile } from './Tile.tsx';
import { type Shelf, useItems } from './use-items.ts';
import { Viewer } from './Viewer.tsx';

const SHELVES: readonly Shelf[] = ['all', 'image', 'audio', 'video', 'attached'];

/** Pictures, sounds and videos of answers, and the files that were attached. The shelf is in the address. */
export default function MediaScreen({ path }: ScreenProps) {
  const shelf = SHELVES.find((each) => each === path[0]) ?? 'all';
  const [search, setSearch] = useState('');
  const [shown, setShown] = useState<string>();
  const list = useItems(shelf, search);
  const { items } = list;
  const at = items.findIndex(({ id }) => id === shown);
  const isEmpty = items.length === 0 && !list.isLoading && list.failure === undefined;
  return (
    <>
      <ScreenHead title={t('media.title')} />
      <main class="screen-body" tabIndex={-1}>
        <div class="media-screen">
          <SearchField id="media-search" label={t('media.search')} value={search} onInput={setSearch} />
          <Choices
            label={t('media.kinds')}
            isPlain
            value={shelf}
            options={SHELVES.map((each) => [each, t(`media.${each}`)] as const)}
            onChange={(next) => goTo(addressOf('media', next), { replace: true })}
          />
          <p class="hint">{t(shelf === 'attached' ? 'media.attachedHint' : 'media.hint')}</p>
          <Problem failure={list.failure} again={list.again} />
          <ul class="tiles" aria-busy={list.isLoading}>
            {items.map((item) => (
              <Tile key={item.id} item={item} open={() => setShown(item.id)} />
            ))}
          </ul>
          <p class={isEmpty ? 'nothing' : 'tiles-waiting'} role="status">
            {list.isLoading && t('media.loading')}
            {isEmpty && t(search.trim() !== '' ? 'media.nothing' : emptyWord(shelf))}
          </p>
          {list.hasMore && <More more={list.more} />}
        </div>
      </main>
      {at >= 0 && (
        <Viewer
          items={items}
          at={at}
          show={(next) => {
            setShown(items[next]?.id);
            if (next >= items.length - 3) list.more();
          }}
          close={() => setShown(undefined)}
          drop={(id) => {
            // Whoever has gone on to another one, or closed the window, while it was on its way, stays there.
            setShown((now) => (now === id ? (items[at + 1]?.id ?? items[at - 1]?.id) : now));
            list.drop(id);
          }}
        />
      )}
    </>
  );
}

function emptyWord(shelf: Shelf): 'media.emptyAttached' | 'media.empty' {
  return shelf === 'attached' ? 'media.emptyAttached' : 'media.empty';
}

/** Asks for more as soon as it comes into sight, and when it is pressed. */
function More({ more }: { readonly more: () => void }) {
  const button = useRef<HTMLButtonElement>(null);
  const ask = useRef(more);
  ask.current = more;
  useEffect(() => {
    const observer = new IntersectionObserver(
      ([entry]) => {
        if (entry?.isIntersecting === true) ask.current();
      },
      { rootMargin: '600px' },
    );
    if (button.current !== null) observer.observe(button.current);
    return () => observer.disconnect();
  }, []);
  return (
    <button ref={button} type="button" class="button" onClick={more}>
      {t('media.more')}
    </button>
  );
}
