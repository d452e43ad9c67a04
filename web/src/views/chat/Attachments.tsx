import { useState } from 'preact/hooks';
import { Icon } from '../../components/Icon.tsx';
import { IconButton } from '../../components/IconButton.tsx';
import { t } from '../../i18n/index.ts';
import type { Attachment } from '../../state/drafts.ts';

export interface AttachmentsProps {
  readonly id?: string;
  readonly attachments: readonly Attachment[];
  readonly remove: (id: string) => void;
  readonly resend: (attachment: Attachment) => void;
}

/** The files of a draft, and how far they are. */
export function Attachments({ id, attachments, remove, resend }: AttachmentsProps) {
  if (attachments.length === 0) return null;
  return (
    <ul class="attachments" id={id} aria-label={t('composer.attached')}>
      {attachments.map((attachment) => (
        <li key={attachment.id} class={`attachment is-${attachment.phase}`}>
          <Sign key={attachment.preview} attachment={attachment} />
          <span class="attachment-words">
            <span class="attachment-name" dir="auto">
              {attachment.name}
            </span>
            <small role={attachment.phase === 'failed' ? 'alert' : undefined}>{stateOf(attachment)}</small>
          </span>
          {attachment.phase === 'uploading' && (
            <progress max={1} value={attachment.progress ?? 0} aria-label={t('composer.uploading')} />
          )}
          {attachment.phase === 'converting' && <progress aria-label={t('composer.converting', { size: '' })} />}
          {attachment.file !== undefined && (
            <IconButton
              icon="again"
              label={t('composer.resend', { name: attachment.name })}
              onClick={() => resend(attachment)}
            />
          )}
          <IconButton
            icon="close"
            label={t('composer.detach', { name: attachment.name })}
            onClick={() => remove(attachment.id)}
          />
        </li>
      ))}
    </ul>
  );
}

/** The picture, where it can be shown and nothing is wrong with it. */
function Sign({ attachment: { phase, preview } }: { readonly attachment: Attachment }) {
  const [isUnreadable, setUnreadable] = useState(false);
  if (phase === 'failed') return <Icon name="warning" size={20} />;
  if (preview === undefined || isUnreadable) return <Icon name="file" size={20} />;
  return <img src={preview} alt="" onError={() => setUnreadable(true)} />;
}

function stateOf({ phase, problem, size, textSize, mimeType }: Attachment): string {
  if (phase === 'failed') return problem ?? t('composer.failed');
  if (phase === 'uploading') return t('composer.uploading');
  if (phase === 'converting') return t('composer.converting', { size: textSize === undefined ? '' : bytes(textSize) });
  return /^(image|audio|video)\//.test(mimeType) ? bytes(size) : t('composer.text', { size: bytes(textSize ?? 0) });
}

function bytes(count: number): string {
  if (count < 1_000) return `${count} B`;
  return count < 1_000_000 ? `${Math.round(count / 1_000)} kB` : `${Math.round(count / 100_000) / 10} MB`;
}
