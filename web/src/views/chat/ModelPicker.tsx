import { useRef, useState } from 'preact/hooks';
import { choiceOf, choose } from '../../actions/chats.ts';
import { Icon } from '../../components/Icon.tsx';
import { Popover } from '../../components/Popover.tsx';
import { t } from '../../i18n/index.ts';
import { type Choice, findOffer, isGone } from '../../state/catalog.ts';
import type { Chat } from '../../state/model.ts';
import { useApp } from '../../state/use.ts';
import { PickerList } from './PickerList.tsx';

/** The model that a chat, or the next one, talks to. */
export function ModelPicker({ chat }: { readonly chat: Chat | undefined }) {
  useApp((state) => state.settings.choice);
  useApp((state) => state.catalog);
  return (
    <ModelButton
      id="model"
      choice={choiceOf(chat)}
      onChoice={(choice) => {
        choose(chat, choice);
        document.querySelector<HTMLElement>('#prompt')?.focus();
      }}
    />
  );
}

export interface ModelButtonProps {
  readonly id: string;
  readonly choice: Choice;
  readonly onChoice: (choice: Choice) => void;
  /** What it says where no model is chosen. Default: that the server chooses. */
  readonly none?: string;
}

/** A button that says which model it is, and lets choose another. */
export function ModelButton({ id, choice, onChoice, none }: ModelButtonProps) {
  const [isOpen, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const catalog = useApp((state) => state.catalog);
  const offer = findOffer(catalog, choice);
  const isWaiting = catalog.status === 'loading' && choice.model === '' && none === undefined;
  const name = choice.model === '' ? (none ?? t('models.automatic')) : (offer?.entry.label ?? choice.model);
  return (
    <>
      <button
        ref={button}
        type="button"
        id={id}
        class="model-button"
        aria-haspopup="dialog"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        <span class="hidden">{t('models.model')}</span>
        <span id={`${id}-name`}>{isWaiting ? t('models.loading') : name}</span>
        {offer !== undefined && <small>{offer.providerLabel}</small>}
        {isGone(catalog, choice) && <small class="is-gone">{t('models.gone')}</small>}
        <Icon name="down" size={14} />
      </button>
      {isOpen && (
        <Popover anchor={button} label={t('shell.chooseModel')} class="picker" onClose={() => setOpen(false)}>
          <PickerList
            current={choice}
            close={() => setOpen(false)}
            onChoice={(next) => {
              setOpen(false);
              onChoice(next);
            }}
          />
        </Popover>
      )}
    </>
  );
}
