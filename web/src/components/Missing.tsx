import { t } from '../i18n/index.ts';

export interface MissingProps {
  /** What is not there. */
  readonly words: string;
  /** Where to go instead; default: to a new chat. */
  readonly href?: string;
  readonly action?: string;
}

/** Says that what an address names is not there, and where to go from here. */
export function Missing({ words, href = '#/', action = t('shell.newChat') }: MissingProps) {
  return (
    <div class="missing" role="alert">
      <p>{words}</p>
      <a class="button" href={href}>
        {action}
      </a>
    </div>
  );
}
