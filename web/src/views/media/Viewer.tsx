import { useEffect, useLayoutEffect, useState } from 'preact/hooks';
import { request, toFailure } from '../../api/http.ts';
import { Confirm } from '../../components/Confirm.tsx';
import { copy } from '../../components/copy.ts';
import { Dialog } from '../../components/Dialog.tsx';
import { Icon } from '../../components/Icon.tsx';
import { IconButton } from '../../components/IconButton.tsx';
import { toast } from '../../components/toast.ts';
import { region, t } from '../../i18n/index.ts';
import type { Item } from './item.ts';

export interface ViewerProps {
  readonly items: readonly Item[];
  readonly at: number;
  readonly show: (at: number) => void;
  readonly close: () => void;
  /** It was deleted. */
  readonly drop: (id: string) => void;
}

/** One of the gallery, large, with those before and after it within reach of the keyboard. */
export function Viewer({ items, at, show, close, drop }: ViewerProps) {
  const [isAsking, setAsking] = useState(false);
  const item = items[at];
  // At once: a second key that comes before the page is painted counts from where the first one led.
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (isAsking || event.ctrlKey || event.metaKey || event.altKey) return;
      // A player moves in its own time with these keys.
      if (event.target instanceof HTMLMediaElement) return;
      const forward = document.documentElement.dir === 'rtl' ? 'ArrowLeft' : 'ArrowRight';
      const backward = forward === 'ArrowLeft' ? 'ArrowRight' : 'ArrowLeft';
      const next = { [forward]: at + 1, [backward]: at - 1, Home: 0, End: items.length - 1 }[event.key];
      if (event.key === 'Delete') setAsking(true);
      else if (next !== undefined && items[next] !== undefined) show(next);
      else return;
      event.preventDefault();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [at, items, isAsking]);
  if (item === undefined) return null;
  const { title, about, url, size, created } = item;
  const facts = [about, sizeWords(size), new Date(created).toLocaleDateString(region(), { dateStyle: 'medium' })];
  return (
    <Dialog title={title} onClose={close} class="gallery">
      <p class="hidden" role="status">
        {t('media.viewer', { name: title, at: at + 1, count: items.length })}
      </p>
      <div class="gallery-stage">
        <IconButton icon="left" label={t('media.before')} disabled={at === 0} onClick={() => show(at - 1)} />
        <Stage key={item.id} item={item} />
        <IconButton
          icon="right"
          label={t('media.after')}
          disabled={at === items.length - 1}
          onClick={() => show(at + 1)}
        />
      </div>
      <div class="gallery-foot">
        <p class="hint">{facts.filter((fact) => fact !== '').join(' · ')}</p>
        <IconButton
          icon="copy"
          label={t('media.copyAddress')}
          onClick={() => void copy(new URL(url, location.origin).href)}
        />
        <a class="button" href={url} download={title}>
          <Icon name="download" /> {t('media.download')}
        </a>
        <button type="button" class="button is-danger" onClick={() => setAsking(true)}>
          <Icon name="trash" /> {t('media.delete')}
        </button>
      </div>
      <p class="hint gallery-keys">{t('media.keys')}</p>
      {isAsking && (
        <Confirm
          title={t('media.deleteTitle')}
          text={t('media.deleteSure', { name: title })}
          action={t('media.delete')}
          onClose={() => setAsking(false)}
          run={async () => {
            await item.remove();
            toast(t('media.deleted', { name: title }));
            drop(item.id);
          }}
        />
      )}
    </Dialog>
  );
}

function Stage({ item: { kind, url, title } }: { readonly item: Item }) {
  const [isGone, setGone] = useState(false);
  if (isGone) return <p class="gallery-gone">{t('media.gone')}</p>;
  const onError = (): void => setGone(true);
  if (kind === 'image') return <img src={url} alt={title} onError={onError} />;
  // biome-ignore lint/a11y/useMediaCaption: what a model made, or a person gave, has none
  if (kind === 'audio') return <audio controls src={url} aria-label={title} onError={onError} />;
  // biome-ignore lint/a11y/useMediaCaption: what a model made, or a person gave, has none
  if (kind === 'video') return <video controls src={url} aria-label={title} onError={onError} />;
  return <DocumentText url={url} label={title} />;
}

/** More than this of a document nobody reads here. */
const MOST_TEXT = 200_000;

/** What the server reads in a document. */
function DocumentText({ url, label }: { readonly url: string; readonly label: string }) {
  const [text, setText] = useState<string>();
  useEffect(() => {
    request(url)
      .then((response) => response.text())
      .then(
        (whole) => setText(whole.length > MOST_TEXT ? `${whole.slice(0, MOST_TEXT)}…` : whole),
        (thrown: unknown) => setText(toFailure(thrown).status === 404 ? t('media.gone') : toFailure(thrown).message),
      );
  }, [url]);
  return (
    <section class="gallery-text" aria-label={label} aria-busy={text === undefined}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls */}
      <pre tabIndex={0} dir="auto">
        {text ?? ''}
      </pre>
    </section>
  );
}

function sizeWords(bytes: number): string {
  const units = ['byte', 'kilobyte', 'megabyte', 'gigabyte'] as const;
  let value = bytes;
  let at = 0;
  for (; value >= 1_000 && at < units.length - 1; at += 1) value /= 1_000;
  const unit = units[at] ?? 'byte';
  return value.toLocaleString(region(), { style: 'unit', unit, unitDisplay: 'short', maximumSignificantDigits: 3 });
}
