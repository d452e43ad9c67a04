import { Icon } from '../../components/Icon.tsx';
import { t } from '../../i18n/index.ts';

/** What the server had to say beside an answer, in its own words. */
export function ServerNotes({ notes }: { readonly notes: readonly string[] }) {
  return (
    <ul class="server-notes" aria-label={t('chat.notes')}>
      {notes.map((note) => (
        <li key={note} class="note" dir="auto">
          <Icon name="warning" /> <span>{note}</span>
        </li>
      ))}
    </ul>
  );
}
