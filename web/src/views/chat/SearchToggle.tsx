import { Icon } from '../../components/Icon.tsx';
import { t } from '../../i18n/index.ts';
import { app } from '../../state/app.ts';
import { canSearch } from '../../state/catalog.ts';
import { useApp } from '../../state/use.ts';

/** Whether answers may search the web; nothing where the server cannot. */
export function SearchToggle() {
  const webSearch = useApp((state) => state.settings.webSearch);
  const searches = useApp((state) => canSearch(state.catalog));
  if (!searches) return null;
  return (
    <button
      type="button"
      id="web-search"
      class="toggle"
      aria-pressed={webSearch}
      title={t('composer.webSearch')}
      onClick={() => app.dispatch({ type: 'settings/changed', change: { webSearch: !webSearch } })}
    >
      <Icon name="globe" />
      <span>{t('composer.web')}</span>
    </button>
  );
}
