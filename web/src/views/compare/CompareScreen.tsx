import { askSides, chooseSide, goOnWith, sidesOf } from '../../actions/compare.ts';
import { stop } from '../../actions/stop.ts';
import { IconButton } from '../../components/IconButton.tsx';
import { Missing } from '../../components/Missing.tsx';
import { ScreenHead } from '../../components/ScreenHead.tsx';
import { t } from '../../i18n/index.ts';
import { app } from '../../state/app.ts';
import { hasNone } from '../../state/catalog.ts';
import { areAlike } from '../../state/compare.ts';
import type { Chat, Side } from '../../state/model.ts';
import { addressOf, goTo } from '../../state/route.ts';
import { countOf, setupOf } from '../../state/setup.ts';
import { useApp } from '../../state/use.ts';
import { CatalogProblem } from '../chat/CatalogProblem.tsx';
import { Composer } from '../chat/Composer.tsx';
import { ModelButton } from '../chat/ModelPicker.tsx';
import { useRead } from '../chat/use-read.tsx';
import { useResumed } from '../chat/use-resumed.ts';
import type { ScreenProps } from '../props.ts';
import { SideThread } from './SideThread.tsx';
import './compare.css';

/** Two models beside each other, which answer the same questions. */
export default function CompareScreen({ path }: ScreenProps) {
  const id = path[0] ?? '';
  const chat = useApp((state) => state.chats.byId[id]);
  const isReady = useApp((state) => state.chats.ready);
  const status = useApp((state) => state.catalog.status);
  const isEmpty = useApp((state) => hasNone(state.catalog));
  useApp((state) => state.settings.more);
  const exists = chat !== undefined;
  const { isLoaded, problem } = useRead(id);
  useResumed(id);
  const isMissing = id !== '' && isReady && !exists;
  const sides = sidesOf(chat);
  return (
    <>
      <ScreenHead title={t('compare.title')}>
        <SetupButton chat={chat} />
        {exists && <IconButton icon="plus" label={t('compare.again')} onClick={() => goTo(addressOf('compare'))} />}
      </ScreenHead>
      <main class="chat compare" aria-label={t('compare.title')} tabIndex={-1}>
        {isMissing ? (
          <Missing words={t('chat.missing')} href={addressOf('compare')} action={t('compare.again')} />
        ) : (
          <>
            <CatalogProblem />
            {status === 'ready' && !isEmpty && areAlike(sides) && <p class="sides-note">{t('compare.alike')}</p>}
            {problem && <div class="sides-note">{problem}</div>}
            <div class="sides">
              {sides.map((side, index) => (
                // The places are what they are: left and right.
                <section key={index} class="side" aria-label={t('compare.side', { at: index + 1 })}>
                  <header class="side-head">
                    <ModelButton
                      id={`model-${index + 1}`}
                      choice={side}
                      onChoice={(choice) => chooseSide(chat, index, choice)}
                    />
                    {chat !== undefined && <SideActions chat={chat} side={side} />}
                  </header>
                  {chat !== undefined && isLoaded ? (
                    <SideThread key={chat.id} chat={chat} at={index} leaf={side.leaf} />
                  ) : (
                    <p class="side-empty">{index === 0 && !problem ? t('compare.hint') : ''}</p>
                  )}
                </section>
              ))}
            </div>
          </>
        )}
        {!isMissing && <Composer key={id} draft={id} onSend={(parts) => askSides(app.get().chats.byId[id], parts)} />}
      </main>
    </>
  );
}

function SideActions({ chat, side }: { readonly chat: Chat; readonly side: Side }) {
  const message = useApp((state) => state.messages[chat.id]?.[side.leaf ?? '']);
  const isRunning = useApp((state) => state.streams[side.leaf ?? ''] !== undefined);
  if (message === undefined) return null;
  return (
    <>
      {isRunning && <IconButton icon="stop" label={t('chat.stop')} onClick={() => stop(message)} />}
      <button type="button" class="button" onClick={() => goOnWith(chat, side)}>
        {t('compare.goOn')}
      </button>
    </>
  );
}

function SetupButton({ chat }: { readonly chat: Chat | undefined }) {
  const count = useApp((state) => countOf(setupOf(chat, state.settings)));
  return (
    <IconButton
      icon="settings"
      class={count === 0 ? '' : 'is-set'}
      label={t('presets.setup')}
      onClick={() => app.dispatch({ type: 'overlay/opened', name: 'setup', about: chat?.id ?? '' })}
    />
  );
}
