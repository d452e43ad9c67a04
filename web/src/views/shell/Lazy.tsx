import type { ComponentType, VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Dialog } from '../../components/Dialog.tsx';
import { useIsBack } from '../../components/use-back.ts';
import { t } from '../../i18n/index.ts';
import type { Failure } from '../../state/model.ts';

type Loaded<Props> = { readonly default: ComponentType<Props> };

const loaded = new WeakMap<() => Promise<unknown>, ComponentType<never>>();

/** Fetches a component before it is needed, so that it is there at once then. */
export async function preload<Props>(load: () => Promise<Loaded<Props>>): Promise<void> {
  const { default: component } = await load();
  loaded.set(load, component as ComponentType<never>);
}

export interface LazyProps<Props> {
  readonly load: () => Promise<Loaded<Props>>;
  readonly props: Props;
  /** What stands around the words that are there instead of it. */
  readonly around?: (words: VNode) => VNode;
  /** Closes what would be a window over the page: that it is missing is said in one, too, since nobody looks elsewhere. */
  readonly close?: () => void;
}

/** How long nothing is said: on most networks it is there by then, and words that come and go at once would flicker. Milliseconds. */
const LATE_MS = 200;

/** A component that is fetched when it is first shown. When that takes long it says so; when it fails, also how to go on. */
export function Lazy<Props extends object>({ load, props, around = (words) => words, close }: LazyProps<Props>) {
  const known = loaded.get(load) as ComponentType<Props> | undefined;
  const [, setCount] = useState(0);
  const [failure, setFailure] = useState<Failure>();
  const [isLate, setLate] = useState(false);
  useEffect(() => {
    if (known !== undefined) return;
    setFailure(undefined);
    setLate(false);
    const timer = setTimeout(() => setLate(true), LATE_MS);
    preload(load).then(
      () => setCount((count) => count + 1),
      // As long as it is not known to be there, the server counts as away.
      () => setFailure({ code: 'unreachable', message: '' }),
    );
    return () => clearTimeout(timer);
  }, [load]);
  useIsBack(failure, () => {
    // What an update took away stays missing.
    preload(load).then(
      () => setFailure(undefined),
      () => {},
    );
  });
  if (failure !== undefined) {
    const failed = (
      <div class="lazy-failed" role="alert">
        <p>{t('shell.partMissing')}</p>
        <button type="button" class="button" onClick={() => location.reload()}>
          {t('shell.reload')}
        </button>
      </div>
    );
    return close === undefined ? around(failed) : inWindow(failed, close);
  }
  if (known === undefined) {
    const waiting = (
      // There before its words are, or they would be read to nobody.
      <div class="lazy-waiting" role="status">
        {isLate && t('shell.loading')}
      </div>
    );
    if (close === undefined) return around(waiting);
    return isLate ? inWindow(waiting, close) : waiting;
  }
  const Component = known;
  return <Component {...props} />;
}

function inWindow(words: VNode, close: () => void): VNode {
  return (
    <Dialog title="Sluice" onClose={close}>
      {words}
    </Dialog>
  );
}
