import { choose, currentChat, newChat } from '../actions/chats.ts';
import { applyPreset, presets } from '../actions/library.ts';
import { changeSetup } from '../actions/setup.ts';
import { toast } from '../components/toast.ts';
import { t } from '../i18n/index.ts';
import { app } from '../state/app.ts';
import { fits, offersOf } from '../state/catalog.ts';
import { addressOf, goTo } from '../state/route.ts';
import { setupOf } from '../state/setup.ts';
import type { Command } from './command.ts';
import type { SlashItem } from './slash-item.ts';

/** Commands around who answers, and how. */
export const choosingCommands: readonly Command[] = [
  {
    id: 'model',
    title: 'shell.chooseModel',
    group: 'chat',
    keys: 'Mod+Shift+M',
    slash: 'model',
    argument: 'models.model',
    options: modelItems,
    run: (argument) => {
      if (argument.trim() === '') return openPicker();
      // As it stands: the server knows aliases that no list has.
      choose(currentChat(), { provider: '', model: argument.trim() });
    },
  },
  {
    id: 'setup',
    title: 'presets.setup',
    group: 'chat',
    keys: 'Mod+.',
    slash: 'parameters',
    run: openSetup,
  },
  {
    id: 'system',
    title: 'presets.systemCommand',
    group: 'chat',
    slash: 'system',
    argument: 'presets.system',
    run: (argument) => {
      if (argument.trim() === '') return openSetup();
      changeSetup(currentChat(), { system: argument.trim() });
      toast(t('presets.systemKept'));
    },
  },
  {
    id: 'preset',
    title: 'presets.apply',
    group: 'chat',
    slash: 'preset',
    argument: 'presets.name',
    options: presetItems,
    run: () => goTo(addressOf('presets')),
  },
  {
    id: 'clear',
    title: 'presets.clear',
    group: 'chat',
    slash: 'clear',
    when: () => currentChat() !== undefined,
    run: () => {
      changeSetup(undefined, { system: '', parameters: {}, ...setupOf(currentChat(), app.get().settings) });
      newChat();
    },
  },
  { id: 'prompts', title: 'prompts.title', group: 'page', slash: 'prompts', run: () => goTo(addressOf('prompts')) },
  { id: 'compare', title: 'compare.title', group: 'page', slash: 'compare', run: () => goTo(addressOf('compare')) },
  {
    id: 'dashboard',
    title: 'dashboard.title',
    group: 'page',
    slash: 'dashboard',
    run: () => goTo(addressOf('dashboard')),
  },
];

/** Opens the list of models: of the chat that is shown, or in a comparison of the side on which `from` is. */
export function openPicker(from?: Element): void {
  const own = from?.closest('.side')?.querySelector<HTMLElement>('.model-button');
  (own ?? document.querySelector<HTMLElement>('#model'))?.click();
}

function openSetup(): void {
  app.dispatch({ type: 'overlay/opened', name: 'setup', about: currentChat()?.id ?? '' });
}

function modelItems(argument: string): readonly SlashItem[] {
  return offersOf(app.get().catalog)
    .filter((offer) => fits(offer, argument))
    .map(({ provider, model, entry, providerLabel }) => ({
      name: `model ${model}`,
      title: entry.label === model ? providerLabel : `${entry.label} · ${providerLabel}`,
      takesArgument: false,
      run: () => {
        choose(currentChat(), { provider, model });
        return undefined;
      },
    }));
}

function presetItems(argument: string): readonly SlashItem[] {
  const wish = argument.trim().toLowerCase();
  void presets.load().catch(() => {});
  return presets
    .get()
    .filter(({ name }) => name.toLowerCase().includes(wish))
    .map((preset) => ({
      name: `preset ${preset.name}`,
      title: preset.system ?? preset.choice?.model ?? '',
      takesArgument: false,
      run: () => {
        applyPreset(preset, currentChat());
        toast(t('presets.applied', { name: preset.name }));
        return undefined;
      },
    }));
}
