import { commands } from '../../commands/index.ts';
import { isAppleKeyboard, keyNames } from '../../commands/keys.ts';
import { useEnterSends } from '../../components/use-enter-sends.ts';
import { t } from '../../i18n/index.ts';

const GROUPS = ['chat', 'input', 'answer', 'page'] as const;

/** All commands, with their keys and slash commands. */
export function ShortcutList() {
  const enterSends = useEnterSends();
  return (
    <>
      {GROUPS.map((group) => (
        <section key={group}>
          <h3>{t(`commands.${group}`)}</h3>
          <dl>
            {commands
              .filter((command) => command.group === group)
              .map(({ id, title, keys, slash }) => (
                <Line key={id} title={t(title)} keys={keys} slash={slash} />
              ))}
            {group === 'input' && (
              <>
                <Line title={t('composer.send')} keys={enterSends ? 'Enter' : 'Mod+Enter'} />
                <Line title={t('composer.newLine')} keys={enterSends ? 'Shift+Enter' : 'Enter'} />
                <Line title={t('composer.editLast')} keys="ArrowUp" />
              </>
            )}
          </dl>
        </section>
      ))}
    </>
  );
}

interface LineProps {
  readonly title: string;
  readonly keys?: string | undefined;
  readonly slash?: string | undefined;
}

function Line({ title, keys, slash }: LineProps) {
  return (
    <div>
      <dt>{title}</dt>
      <dd>
        {slash !== undefined && <code>/{slash}</code>}
        {keys !== undefined && keyNames(keys, isAppleKeyboard()).map((name) => <kbd key={name}>{name}</kbd>)}
      </dd>
    </div>
  );
}
