import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { createRenderer } from './plain-renderer.ts';

/** Text of a model, as it was meant. `done`: no more of it will come. */
export function Markdown({ text, done }: { readonly text: string; readonly done: boolean }) {
  const node = useRef<HTMLDivElement>(null);
  const renderer = useRef<ReturnType<typeof createRenderer> | undefined>(undefined);
  useLayoutEffect(() => {
    if (node.current !== null) renderer.current ??= createRenderer(node.current);
    renderer.current?.update(text, done);
  }, [text, done]);
  useEffect(() => () => renderer.current?.destroy(), []);
  return <div ref={node} class="markdown" dir="auto" />;
}
