import { t } from '../i18n/index.ts';

export interface CancelButtonProps {
  readonly draft: { readonly forget: () => void };
  readonly close: () => void;
}

/** Gives up what is written in a form, and closes it. */
export function CancelButton({ draft, close }: CancelButtonProps) {
  const cancel = (): void => {
    draft.forget();
    close();
  };
  return (
    <button type="button" class="button is-quiet" onClick={cancel}>
      {t('shell.cancel')}
    </button>
  );
}
