import { useRef } from 'preact/hooks';
import { t } from '../i18n/index.ts';
import { filesOf } from './dropped.ts';
import { IconButton } from './IconButton.tsx';

export interface AttachButtonProps {
  readonly id?: string;
  /** Of the field behind it. */
  readonly fieldId?: string;
  readonly take: (files: readonly File[]) => void;
}

/** Has files chosen that shall go along with a question. */
export function AttachButton({ id, fieldId, take }: AttachButtonProps) {
  const field = useRef<HTMLInputElement>(null);
  return (
    <>
      <IconButton icon="clip" id={id} label={t('composer.attach')} onClick={() => field.current?.click()} />
      <input
        ref={field}
        id={fieldId}
        hidden
        type="file"
        multiple
        onChange={(event) => {
          take(filesOf(event.currentTarget));
          event.currentTarget.value = '';
        }}
      />
    </>
  );
}
