import { ProblemText } from '../../components/ProblemText.tsx';
import { ProvidersLink } from '../../components/ProvidersLink.tsx';
import { t } from '../../i18n/index.ts';
import { hasNone } from '../../state/catalog.ts';
import { useApp } from '../../state/use.ts';

/** Why there is no model to ask, if there is none, and the way to where keys are entered. */
export function CatalogProblem() {
  const catalog = useApp((state) => state.catalog);
  if (catalog.status === 'failed') return <ProblemText text={t('errors.unreachable')} />;
  if (!hasNone(catalog)) return null;
  return (
    <div class="welcome-empty">
      <p class="problem">{t('welcome.noModels')}</p>
      <ProvidersLink isPrimary={true} />
    </div>
  );
}
