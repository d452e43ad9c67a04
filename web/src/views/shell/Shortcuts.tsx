import { commands } from '../../commands/index.ts';
import { isAppleKeyboard, keyNames } from '../../commands/keys.ts';
import { Dialog } from '../../components/Dialog.tsx';
import { t } from '../../i18n/index.ts';
import type { OverlayProps } from '../overlays.ts';

const GROUPS = ['chat', 'input', 'answer', 'page'] as const;

/** All commands, with their keys and slash commands. */
export default function Shortcuts({ close }: OverlayProps) {
  const isApple = isAppleKeyboard();
  return (
    <Dialog title={t('shell.shortcuts')} onClose={close} class="shortcuts">
      {GROUPS.map((group) => (
        <section key={group}>
          <h3>{t(`commands.${group}`)}</h3>
          <dl>
            {commands
              .filter((command) => command.group === group)
              .map(({ id, title, keys, slash }) => (
                <div key={id}>
                  <dt>{t(title)}</dt>
                  <dd>
                    {slash !== undefined && <code>/{slash}</code>}
                    {keys !== undefined && keyNames(keys, isApple).map((name) => <kbd key={name}>{name}</kbd>)}
                  </dd>
                </div>
              ))}
            {group === 'input' && (
              <>
                <div>
                  <dt>{t('composer.send')}</dt>
                  <dd>
                    <kbd>Enter</kbd>
                  </dd>
                </div>
                <div>
                  <dt>{t('composer.newLine')}</dt>
                  <dd>
                    <kbd>{keyNames('Shift', isApple)}</kbd>
                    <kbd>Enter</kbd>
                  </dd>
                </div>
              </>
            )}
          </dl>
        </section>
      ))}
    </Dialog>
  );
}
