import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { spoken } from '../../i18n/index.ts';
import { createRenderer, type Renderer } from '../../markdown/index.ts';
import { PictureViewer } from './PictureViewer.tsx';
import '../../markdown/markdown.css';

export interface MarkdownProps {
  readonly text: string;
  /** No more of it will come. */
  readonly done: boolean;
}

/** Text of a model, as it was meant. The words on its controls are in the language in which it was rendered. */
export function Markdown(props: MarkdownProps) {
  return <Rendered key={spoken()} {...props} />;
}

function Rendered({ text, done }: MarkdownProps) {
  const node = useRef<HTMLDivElement>(null);
  const renderer = useRef<Renderer | undefined>(undefined);
  const [picture, setPicture] = useState<{ readonly url: string; readonly alt: string } | undefined>(undefined);
  useLayoutEffect(() => {
    if (node.current === null) return;
    renderer.current ??= createRenderer(node.current, {
      previewUrl: '/preview.html',
      openPicture: (url, element) => setPicture({ url, alt: altOf(element) }),
    });
    renderer.current.update(text, done);
  }, [text, done]);
  useEffect(() => () => renderer.current?.destroy(), []);
  return (
    <>
      <div ref={node} class="markdown" dir="auto" />
      {picture !== undefined && <PictureViewer {...picture} close={() => setPicture(undefined)} />}
    </>
  );
}

function altOf(element: HTMLElement): string {
  const image = element instanceof HTMLImageElement ? element : element.querySelector('img');
  return image?.alt ?? '';
}
