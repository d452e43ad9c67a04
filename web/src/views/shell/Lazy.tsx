import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Dialog } from '../../components/Dialog.tsx';
import { t } from '../../i18n/index.ts';

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
  /** Closes what would be a window over the page: that it is missing is said in one, too, since nobody looks elsewhere. */
  readonly close?: () => void;
}

/** A component that is fetched when it is first shown. When that fails it says so, and how to go on. */
export function Lazy<Props extends object>({ load, props, close }: LazyProps<Props>) {
  const known = loaded.get(load) as ComponentType<Props> | undefined;
  const [, setCount] = useState(0);
  const [hasFailed, setFailed] = useState(false);
  useEffect(() => {
    if (known !== undefined) return;
    setFailed(false);
    preload(load).then(
      () => setCount((count) => count + 1),
      () => setFailed(true),
    );
  }, [load]);
  if (hasFailed) {
    const failed = (
      <div class="lazy-failed" role="alert">
        <p>{t('shell.partMissing')}</p>
        <button type="button" class="button" onClick={() => location.reload()}>
          {t('shell.reload')}
        </button>
      </div>
    );
    if (close === undefined) return failed;
    return (
      <Dialog title="Sluice" onClose={close}>
        {failed}
      </Dialog>
    );
  }
  if (known === undefined) return <div class="lazy-waiting" aria-busy="true" />;
  const Component = known;
  return <Component {...props} />;
}
