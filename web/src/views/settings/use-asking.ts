import { useState } from 'preact/hooks';
import { askModels } from '../../actions/catalog.ts';
import { loadQuota } from '../../api/catalog.ts';
import { toFailure } from '../../api/http.ts';
import { t } from '../../i18n/index.ts';
import type { ProviderEntry } from '../../state/catalog.ts';
import { adviceOf, reasonOf } from '../chat/advice.ts';

interface Outcome {
  readonly isGood: boolean;
  readonly text: string;
  /** In the provider's own form. */
  readonly told?: string;
}

interface Asking {
  /** Absent while it is not known for the present key. */
  readonly outcome: Outcome | undefined;
  readonly isTesting: boolean;
  readonly test: () => Promise<void>;
  readonly showQuota: () => Promise<void>;
}

/** Asks a provider with the person's own key, if there is one, whether it works and what is left of the account. */
export function useAsking(provider: ProviderEntry, key: string | undefined): Asking {
  const { name } = provider;
  const [last, setLast] = useState<Outcome & { readonly key: string | undefined }>();
  const [isTesting, setTesting] = useState(false);

  /** Asks the provider for something, and shows what came of it. */
  const show = async (ask: () => Promise<Outcome>, problem: (reason: string) => string): Promise<void> => {
    setTesting(true);
    setLast(undefined);
    try {
      setLast({ ...(await ask()), key });
    } catch (thrown) {
      const failure = toFailure(thrown);
      const text = problem(reasonOf(failure));
      // There is no button for it here.
      const isKeyless = adviceOf(failure, provider) === 'errors.keyless';
      setLast({ isGood: false, text: isKeyless ? `${text} ${t('errors.keyless')}` : text, key });
    } finally {
      setTesting(false);
    }
  };
  return {
    // Of another key it says nothing.
    outcome: last?.key === key ? last : undefined,
    isTesting,
    test: () =>
      show(
        async () => {
          const models = await askModels(name, key);
          return { isGood: true, text: t('settings.testGood', { count: models.length }) };
        },
        (reason) => t(key === undefined ? 'settings.noModels' : 'settings.testBad', { reason }),
      ),
    showQuota: () =>
      show(
        async () => {
          const told = JSON.stringify(await loadQuota(name, key), null, 2);
          return { isGood: true, text: t('settings.quota'), told };
        },
        (reason) => reason,
      ),
  };
}
