import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { t } from '../../i18n/index.ts';

/** A person's own words; of long ones the first lines, until somebody wants more. */
export function FoldedText({ text }: { readonly text: string }) {
  const node = useRef<HTMLDivElement>(null);
  const [isLong, setLong] = useState(false);
  const [isOpen, setOpen] = useState(false);
  // How many lines it has is known when it is laid out, and changes with the window and the size of letters.
  useLayoutEffect(() => {
    const bubble = node.current;
    if (isOpen || bubble === null) return;
    const observer = new ResizeObserver(() => setLong(bubble.scrollHeight > bubble.clientHeight));
    observer.observe(bubble);
    return () => observer.disconnect();
  }, [text, isOpen]);
  return (
    <>
      <div ref={node} class={`bubble ${isOpen ? '' : 'is-folded'}`} dir="auto">
        {text}
      </div>
      {isLong && (
        <button type="button" class="link-button fold" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {t(isOpen ? 'chat.showLess' : 'chat.showMore')}
        </button>
      )}
    </>
  );
}
