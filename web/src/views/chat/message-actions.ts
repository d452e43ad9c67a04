import { continueAnswer, regenerate } from '../../actions/answer.ts';
import { compareAnswer } from '../../actions/compare.ts';
import { deleteMessage } from '../../actions/messages.ts';
import { copy } from '../../components/copy.ts';
import type { IconName } from '../../components/Icon.tsx';
import type { Key } from '../../i18n/dictionary.ts';
import { type Message, textOf } from '../../state/model.ts';
import { toggleReading } from '../aloud/read.ts';

/** A button below answers. */
export interface MessageAction {
  readonly id: string;
  readonly label: Key;
  readonly icon: IconName;
  /** Whether it makes sense for this answer. */
  readonly when: (message: Message, isLast: boolean) => boolean;
  /** `edit` shows the text in a field. */
  readonly run: (message: Message, edit: () => void) => void;
}

/** The buttons below answers that are over, in their order. Whoever adds one adds a row. */
export const messageActions: readonly MessageAction[] = [
  {
    id: 'copy',
    label: 'chat.copy',
    icon: 'copy',
    when: (message) => textOf(message) !== '',
    run: (message) => void copy(textOf(message)),
  },
  {
    id: 'aloud',
    label: 'aloud.read',
    icon: 'speaker',
    when: (message) => textOf(message) !== '',
    run: toggleReading,
  },
  {
    id: 'regenerate',
    label: 'chat.regenerate',
    icon: 'again',
    when: () => true,
    run: (message) => void regenerate(message),
  },
  {
    id: 'compare',
    label: 'compare.thisAnswer',
    icon: 'columns',
    when: (message, isLast) => isLast && message.parent !== null,
    run: (message) => void compareAnswer(message),
  },
  {
    id: 'edit',
    label: 'chat.editAnswer',
    icon: 'edit',
    when: (message) => textOf(message) !== '',
    run: (_, edit) => edit(),
  },
  { id: 'delete', label: 'chat.deleteMessage', icon: 'trash', when: () => true, run: deleteMessage },
  {
    id: 'continue',
    label: 'chat.continue',
    icon: 'forward',
    when: (message, isLast) => isLast && message.parts.length > 0 && message.finish !== 'stop',
    run: (message) => void continueAnswer(message),
  },
];
