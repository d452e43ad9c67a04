import { useRef } from 'preact/hooks';
import { filesOf } from './dropped.ts';
import { Icon } from './Icon.tsx';
import { useFileDrop } from './use-file-drop.ts';

export interface DropAreaProps {
  /** Of the field for files. */
  readonly id: string;
  /** What the button says. */
  readonly choose: string;
  /** That files can be dropped here, too. */
  readonly hint: string;
  /** The name of the area; default: what the button says. */
  readonly label?: string;
  /** As the attribute of that name: which files are offered. */
  readonly accept: string;
  readonly multiple?: boolean;
  readonly isBusy: boolean;
  readonly take: (files: readonly File[]) => void;
}

/** Where files are chosen, or dropped. */
export function DropArea({ id, choose, hint, label = choose, accept, multiple = false, isBusy, take }: DropAreaProps) {
  const field = useRef<HTMLInputElement>(null);
  const { isOver, handlers } = useFileDrop(take);
  return (
    <section aria-label={label} class={`drop-area ${isOver ? 'is-over' : ''}`} {...handlers}>
      <button type="button" class="button is-primary" disabled={isBusy} onClick={() => field.current?.click()}>
        <Icon name="upload" /> {choose}
      </button>
      <span class="hint">{hint}</span>
      <input
        ref={field}
        id={id}
        hidden
        type="file"
        multiple={multiple}
        accept={accept}
        onChange={(event) => {
          const files = filesOf(event.currentTarget);
          event.currentTarget.value = '';
          take(files);
        }}
      />
    </section>
  );
}
