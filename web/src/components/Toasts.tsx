import { useEffect, useState } from 'preact/hooks';
import { t } from '../i18n/index.ts';
import { IconButton } from './IconButton.tsx';
import { dismiss, onToasts, shownToasts } from './toast.ts';

export function Toasts() {
  const [toasts, setToasts] = useState(shownToasts);
  useEffect(() => onToasts(() => setToasts(shownToasts())), []);
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.map(({ id, text, undo }) => (
        <div key={id} class="toast">
          <span>{text}</span>
          {undo !== undefined && (
            <button
              type="button"
              class="link-button"
              onClick={() => {
                dismiss(id);
                undo();
              }}
            >
              {t('shell.undo')}
            </button>
          )}
          <IconButton icon="close" label={t('shell.close')} onClick={() => dismiss(id)} />
        </div>
      ))}
    </div>
  );
}
