import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { t } from '../../i18n/index.ts';

/** Shorter ones need no look at how they are laid out: on a phone, too, they have no more lines than are shown. */
const SURELY_SHORT = 300;

/** A person's own words; of long ones the first lines, until somebody wants more. */
export function FoldedText({ text }: { readonly text: string }) {
  const node = useRef<HTMLDivElement>(null);
  const [isLong, setLong] = useState(false);
  const [isOpen, setOpen] = useState(false);
  const mayBeLong = text.length > SURELY_SHORT || text.split('\n').length > 10;
  useLayoutEffect(() => {
    if (mayBeLong && node.current !== null) setLong(node.current.scrollHeight > node.current.clientHeight);
  }, [text]);
  return (
    <>
      <div ref={node} class={`bubble ${mayBeLong && !isOpen ? 'is-folded' : ''}`} dir="auto">
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
