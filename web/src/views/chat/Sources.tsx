import { Icon } from '../../components/Icon.tsx';
import { t } from '../../i18n/index.ts';
import { linkAddress } from '../../markdown/addresses.ts';
import type { Source } from '../../state/model.ts';

/** What an answer rests on. Only web addresses become links. */
export function Sources({ sources }: { readonly sources: readonly Source[] }) {
  return (
    <details class="sources">
      <summary>
        <Icon name="globe" /> {t('chat.sources', { count: sources.length })}
      </summary>
      <ol>
        {sources.map((source) => (
          <li key={source.url}>
            <Link source={source} />
            {source.text !== undefined && <p dir="auto">{source.text}</p>}
          </li>
        ))}
      </ol>
    </details>
  );
}

function Link({ source: { url, title } }: { readonly source: Source }) {
  const href = linkAddress(url);
  const address = href === undefined ? undefined : new URL(href, location.origin);
  if (address === undefined || !/^https?:$/.test(address.protocol)) return <span dir="auto">{title ?? url}</span>;
  return (
    <a href={address.href} target="_blank" rel="noopener noreferrer" dir="auto">
      {title ?? address.hostname} <small>{address.hostname}</small>
    </a>
  );
}
