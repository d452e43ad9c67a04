import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { t } from '../../i18n/index.ts';

export interface PictureProps {
  /** Of some there is no thumbnail: the first that can be loaded is shown. */
  readonly sources: readonly string[];
  readonly alt: string;
  readonly width?: number | undefined;
  readonly height?: number | undefined;
  /** What the picture stands in. */
  readonly frame: (image: VNode) => VNode;
}

/** A picture that this server keeps. Where its file is gone, that is said. */
export function Picture({ sources, alt, width, height, frame }: PictureProps) {
  const [failed, setFailed] = useState<readonly string[]>([]);
  const src = sources.find((each) => !failed.includes(each));
  if (src === undefined) {
    return (
      <p class="note">
        {alt} {t('chat.pictureGone')}
      </p>
    );
  }
  const onError = (): void => setFailed((before) => [...before, src]);
  return frame(<img src={src} alt={alt} width={width} height={height} loading="lazy" onError={onError} />);
}
