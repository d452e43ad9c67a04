import { useState } from 'preact/hooks';
import { Icon } from '../../components/Icon.tsx';
import { t } from '../../i18n/index.ts';
import type { MediaPart } from '../../state/model.ts';
import { Picture } from './Picture.tsx';
import { PictureViewer } from './PictureViewer.tsx';

/** Pictures, sound and video of an answer. What is not kept by this server is only linked: showing it would call home. */
export function Media({ part: { kind, url, alt = '', width, height } }: { readonly part: MediaPart }) {
  const [isOpen, setOpen] = useState(false);
  if (!isOwn(url)) {
    if (!/^https?:/i.test(url)) return <p>{alt || url.slice(0, 200)}</p>;
    return (
      <p>
        <a href={url} target="_blank" rel="noopener noreferrer">
          <Icon name="external" /> {alt || url}
        </a>
      </p>
    );
  }
  // biome-ignore lint/a11y/useMediaCaption: what a model made has none
  if (kind === 'audio') return <audio class="media" controls preload="metadata" src={url} />;
  // biome-ignore lint/a11y/useMediaCaption: what a model made has none
  if (kind === 'video') return <video class="media" controls preload="metadata" src={url} />;
  const thumbnail = url.startsWith('/media/') ? url.replace('/media/', '/thumbnail/').replace(/\?.*/, '') : url;
  return (
    <>
      <Picture
        sources={[thumbnail, url]}
        alt={alt}
        width={width}
        height={height}
        frame={(image) => (
          <button
            type="button"
            class="media picture"
            onClick={() => setOpen(true)}
            aria-label={t('chat.enlarge', { name: alt })}
          >
            {image}
          </button>
        )}
      />
      {isOpen && <PictureViewer url={url} alt={alt} close={() => setOpen(false)} />}
    </>
  );
}

/** From this server, or part of the answer itself. */
function isOwn(url: string): boolean {
  if (/^(blob:|data:(image\/(png|jpeg|gif|webp)|audio\/|video\/))/i.test(url)) return true;
  return URL.canParse(url, location.origin) && new URL(url, location.origin).origin === location.origin;
}
