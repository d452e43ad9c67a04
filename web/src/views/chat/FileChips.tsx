import { mediaUrl, thumbnailUrl } from '../../api/files.ts';
import { Icon } from '../../components/Icon.tsx';
import { IconButton } from '../../components/IconButton.tsx';
import { t } from '../../i18n/index.ts';
import type { FilePart } from '../../state/model.ts';

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
    return (
      <a href={mediaUrl(bucketId, media)} target="_blank" rel="noopener" class="file-image">
        <img src={thumbnailUrl(bucketId, media)} alt={name} loading="lazy" />
      </a>
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
