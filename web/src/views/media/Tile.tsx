import { useState } from 'preact/hooks';
import { Icon, type IconName } from '../../components/Icon.tsx';
import type { Item } from './item.ts';

const ICONS: Readonly<Record<Item['kind'], IconName>> = {
  image: 'image',
  audio: 'speaker',
  video: 'play',
  document: 'file',
};

/** A small form of something in the gallery, always of the same size. */
export function Tile({ item, open }: { readonly item: Item; readonly open: () => void }) {
  const [isBroken, setBroken] = useState(false);
  const { kind, title, about, thumbnail } = item;
  return (
    <li>
      <button type="button" class="tile" title={title} onClick={open}>
        {thumbnail === undefined || isBroken ? (
          <span class="tile-icon">
            <Icon name={ICONS[kind]} size={28} />
          </span>
        ) : (
          <img src={thumbnail} alt="" loading="lazy" decoding="async" onError={() => setBroken(true)} />
        )}
        <span class="tile-words" dir="auto">
          <span>{title}</span>
          {about !== '' && <small>{about}</small>}
        </span>
      </button>
    </li>
  );
}
