import { mediaUrl, thumbnailUrl } from '../../api/files.ts';
import { Icon } from '../../components/Icon.tsx';
import type { FilePart } from '../../state/model.ts';

/** Files that went with a question. */
export function FileChips({ files }: { readonly files: readonly FilePart[] }) {
  return (
    <ul class="files">
      {files.map((file) => (
        <li key={file.bucketId}>
          <File file={file} />
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
