import { useEffect, useRef, useState } from 'preact/hooks';
import { Icon } from '../../components/Icon.tsx';
import { usePrinting } from '../../components/use-printing.ts';
import { t } from '../../i18n/index.ts';
import type { Message } from '../../state/model.ts';
import { Markdown } from './Markdown.tsx';

/** What the model thought, folded, with the time it took. */
export function Reasoning({ message, isRunning }: { readonly message: Message; readonly isRunning: boolean }) {
  const { timing, reasoning = '' } = message;
  const isThinking = isRunning && timing?.reasoning === undefined;
  const [isOpen, setOpen] = useState(false);
  const isPrinting = usePrinting();
  const seconds = useSeconds(timing?.reasoningFrom, isThinking);
  const took = timing?.reasoning === undefined ? undefined : Math.max(1, Math.round(timing.reasoning / 1000));
  const summary = isThinking
    ? t('chat.thinking', { count: seconds })
    : took === undefined
      ? t('chat.thoughts')
      : t('chat.thoughtFor', { count: took });
  return (
    <details class="reasoning" open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary class={isThinking ? 'is-thinking' : ''}>
        <Icon name="thought" /> <span>{summary}</span>
      </summary>
      {isOpen && (
        <div class="thoughts">
          <Markdown text={reasoning} done={!isThinking} />
        </div>
      )}
      {/* Paper waits for nothing: markdown comes in pieces. */}
      {isPrinting && !isOpen && <div class="thoughts undressed">{reasoning}</div>}
    </details>
  );
}

/** Whole seconds since `from`, counting while `isRunning`. */
function useSeconds(from: number | undefined, isRunning: boolean): number {
  const [, tick] = useState(0);
  const timer = useRef<ReturnType<typeof setInterval> | undefined>(undefined);
  useEffect(() => {
    if (!isRunning) return;
    timer.current = setInterval(() => tick((count) => count + 1), 1000);
    return () => clearInterval(timer.current);
  }, [isRunning]);
  return from === undefined ? 0 : Math.max(0, Math.floor((Date.now() - from) / 1000));
}
