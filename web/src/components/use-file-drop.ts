import { useState } from 'preact/hooks';

/** The files of a drop, of a paste or of a field, as a list that stays: the field's own is emptied with it. */
export function filesOf(source: { readonly files: FileList | null } | null | undefined): readonly File[] {
  return [...(source?.files ?? [])];
}

export interface FileDrop {
  /** Whether something is held above the element. */
  readonly isOver: boolean;
  /** For the element. */
  readonly handlers: {
    readonly onDragOver: (event: DragEvent) => void;
    readonly onDragLeave: () => void;
    readonly onDrop: (event: DragEvent) => void;
  };
}

/** Lets files be dropped on an element; what is not welcome, words for example, is left to the browser. */
export function useFileDrop(
  take: (files: readonly File[]) => void,
  isWelcome: (held: DataTransfer | null) => boolean = () => true,
): FileDrop {
  const [isOver, setOver] = useState(false);
  return {
    isOver,
    handlers: {
      onDragOver(event) {
        if (!isWelcome(event.dataTransfer)) return;
        event.preventDefault();
        setOver(true);
      },
      onDragLeave: () => setOver(false),
      onDrop(event) {
        setOver(false);
        if (!isWelcome(event.dataTransfer)) return;
        event.preventDefault();
        take(filesOf(event.dataTransfer));
      },
    },
  };
}
