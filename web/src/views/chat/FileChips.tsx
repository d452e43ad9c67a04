import { mediaUrl, thumbnailUrl } from '../../api/files.ts';
import { Icon } from '../../components/Icon.tsx';
import { IconButton } from '../../components/IconButton.tsx';
import { t } from '../../i18n/index.ts';
import type { FilePart } from '../../state/model.ts';
import { Picture } from './Picture.tsx';

export interface FileChipsProps {
  readonly files: readonly FilePart[];
  /** Takes one out, where that is possible. */
  readonly remove?: (file: FilePart) => void;
}

/** Files that went with a question. */
export function FileChips({ files, remove }: FileChipsProps) {
  return (
    <ul class="files">
      {files.map((file) => (
        <li key={file.bucketId}>
          <File file={file} />
          {remove !== undefined && (
            <IconButton icon="close" label={t('composer.detach', { name: file.name })} onClick={() => remove(file)} />
          )}
        </li>
      ))}
    </ul>
  );
}

function File({ file: { kind, bucketId, media, name } }: { readonly file: FilePart }) {
  if (kind === 'image' && media !== undefined) {
    const url = mediaUrl(bucketId, media);
    return (
      <Picture
        sources={[thumbnailUrl(bucketId, media), url]}
        alt={name}
        frame={(image) => (
          <a href={url} target="_blank" rel="noopener" class="file-image">
            {image}
          </a>
        )}
      />
    );
  }
  // biome-ignore lint/a11y/useMediaCaption: a person's own recording has none
  if (kind === 'audio' && media !== undefined) return <audio controls preload="none" src={mediaUrl(bucketId, media)} />;
  return (
    <a href={`/backend-api/v2/files/${bucketId}`} target="_blank" rel="noopener" class="file-chip">
      <Icon name="file" />
      <span dir="auto">{name}</span>
    </a>
  );
}
