import type { ComponentChildren, RefObject } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { anchors } from './focus.ts';
import { onBack } from './on-back.ts';

export interface PopoverProps {
  /** What it belongs to: it opens below it, or above where there is more room. */
  readonly anchor: RefObject<HTMLElement | null>;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
  readonly class?: string;
  readonly role?: 'dialog' | 'menu' | 'listbox' | 'presentation';
  readonly label?: string;
  /** Which edges meet: those where lines begin, or where they end. */
  readonly align?: 'start' | 'end';
}

const GAP = 6;
const MARGIN = 8;

/** A light window at a button, whose focus goes to what has `data-first`; there while it is rendered. Escape, Back and a click elsewhere call `onClose`. */
export function Popover(props: PopoverProps) {
  const { anchor, onClose, children, class: extra = '', role = 'dialog', label, align = 'start' } = props;
  const node = useRef<HTMLDivElement>(null);
  const close = useRef(onClose);
  const before = useRef<Element | null>(null);
  close.current = onClose;

  useLayoutEffect(() => {
    const popover = node.current;
    const at = anchor.current;
    if (popover === null || at === null) return;
    before.current = document.activeElement;
    anchors.set(popover, at);
    popover.showPopover();
    popover.querySelector<HTMLElement>('[data-first]')?.focus();
    const place = (): void => put(popover, at.getBoundingClientRect(), align);
    place();
    const observer = new ResizeObserver(place);
    observer.observe(popover);
    addEventListener('resize', place);
    return () => {
      observer.disconnect();
      removeEventListener('resize', place);
    };
  }, []);

  // Before a key can close it: nobody would hear of it later.
  useLayoutEffect(() => {
    const popover = node.current;
    const onToggle = (event: Event): void => {
      if ((event as ToggleEvent).newState === 'closed') close.current();
    };
    popover?.addEventListener('toggle', onToggle);
    const endBack = onBack(() => close.current());
    return () => {
      endBack();
      popover?.removeEventListener('toggle', onToggle);
      // Back to where one came from, unless the focus has gone elsewhere on purpose.
      const isLost = document.activeElement === document.body || popover?.contains(document.activeElement);
      if (isLost && before.current instanceof HTMLElement) before.current.focus();
    };
  }, []);

  return (
    // biome-ignore lint/a11y/useAriaPropsSupportedByRole: each of the roles may be named
    <div ref={node} popover="auto" class={`popover ${extra}`} role={role} aria-label={label}>
      {children}
    </div>
  );
}

function put(popover: HTMLElement, at: DOMRect, align: 'start' | 'end'): void {
  const isRtl = document.documentElement.dir === 'rtl';
  const { style } = popover;
  const below = innerHeight - at.bottom - GAP - MARGIN;
  const above = at.top - GAP - MARGIN;
  style.maxHeight = '';
  const isAbove = popover.scrollHeight > below && above > below;
  style.maxHeight = `${Math.max(120, isAbove ? above : below)}px`;
  const { width, height } = popover.getBoundingClientRect();
  const wish = (align === 'start') === !isRtl ? at.left : at.right - width;
  style.left = `${Math.max(MARGIN, Math.min(wish, innerWidth - width - MARGIN))}px`;
  style.top = `${isAbove ? Math.max(MARGIN, at.top - GAP - height) : at.bottom + GAP}px`;
}
