import { Dialog } from '../../components/Dialog.tsx';
import { Icon } from '../../components/Icon.tsx';
import { t } from '../../i18n/index.ts';

export interface PictureViewerProps {
  readonly url: string;
  readonly alt: string;
  readonly close: () => void;
}

/** A picture as large as it fits. */
export function PictureViewer({ url, alt, close }: PictureViewerProps) {
  return (
    <Dialog
      title={alt || t('chat.picture')}
      onClose={close}
      class="viewer"
      actions={
        <a class="button" href={url} download="">
          <Icon name="download" /> {t('chat.download')}
        </a>
      }
    >
      <img src={url} alt={alt} />
    </Dialog>
  );
}
