import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { filesOf, takeDropped } from './dropped.ts';

/**
 * The files of a paste. Office programs put a picture of the words beside them, and whoever pastes wants the words; a file
 * manager puts the name of the file there, as plain text only.
 */
function pastedFiles(data: DataTransfer | null): readonly File[] {
  const isFormattedText = ['text/plain', 'text/html'].every((type) => data?.types.includes(type) === true);
  return isFormattedText ? [] : filesOf(data);
}

/** Gives `take` the files of a paste, if that is what is pasted. */
export function takePasted(event: ClipboardEvent, take: (files: readonly File[]) => void): void {
  const files = pastedFiles(event.clipboardData);
  if (files.length === 0) return;
  event.preventDefault();
  take(files);
}

interface FileDrop {
  /** Whether something is held above the element. */
  readonly isOver: boolean;
  /** For the element. */
  readonly handlers: {
    readonly onDragOver: (event: DragEvent) => void;
    readonly onDragLeave: () => void;
    readonly onDrop: (event: DragEvent) => void;
  };
}

/** Lets files be dropped on an element. */
export function useFileDrop(take: (files: readonly File[]) => void): FileDrop {
  const [isOver, setOver] = useState(false);
  return {
    isOver,
    handlers: {
      onDragOver(event) {
        if (!holdsFiles(event)) return;
        event.preventDefault();
        setOver(true);
      },
      onDragLeave: () => setOver(false),
      onDrop(event) {
        setOver(false);
        if (!holdsFiles(event)) return;
        event.preventDefault();
        takeDropped(event.dataTransfer, take);
      },
    },
  };
}

/** Lets files be dropped anywhere on the page, unless a window is open over it. Returns whether some are held above it. */
export function usePageDrop(take: (files: readonly File[]) => void): boolean {
  const [isOver, setOver] = useState(false);
  const latest = useRef(take);
  latest.current = take;
  // At once: what nobody takes is opened by the browser in place of the page.
  useLayoutEffect(() => {
    const onOver = (event: DragEvent): void => {
      const isHere = isForPage(event);
      if (isHere) event.preventDefault();
      // Held above what takes them for itself, they are no longer above the page.
      setOver(isHere);
    };
    const onLeave = (event: DragEvent): void => {
      if (event.relatedTarget === null) setOver(false);
    };
    const onDrop = (event: DragEvent): void => {
      setOver(false);
      if (!isForPage(event)) return;
      event.preventDefault();
      takeDropped(event.dataTransfer, latest.current);
    };
    document.addEventListener('dragover', onOver);
    document.addEventListener('dragleave', onLeave);
    document.addEventListener('drop', onDrop);
    return () => {
      document.removeEventListener('dragover', onOver);
      document.removeEventListener('dragleave', onLeave);
      document.removeEventListener('drop', onDrop);
    };
  }, []);
  return isOver;
}

/** Refuses files that nothing on the page takes: the browser would open them in its place. Hears of them last, at the window. */
export function refuseDrops(): void {
  const refuse = (event: DragEvent): void => {
    if (event.defaultPrevented || !holdsFiles(event)) return;
    event.preventDefault();
    if (event.dataTransfer !== null) event.dataTransfer.dropEffect = 'none';
  };
  addEventListener('dragover', refuse);
  addEventListener('drop', refuse);
}

/** Text may be dragged, too, which is the browser's business. */
function holdsFiles({ dataTransfer }: DragEvent): boolean {
  return dataTransfer?.types.includes('Files') === true;
}

function isForPage(event: DragEvent): boolean {
  return holdsFiles(event) && !event.defaultPrevented && document.querySelector('dialog[open]') === null;
}
