import { useEffect, useState } from 'preact/hooks';
import { IconButton } from '../../components/IconButton.tsx';
import { ProblemText } from '../../components/ProblemText.tsx';
import { t } from '../../i18n/index.ts';
import { app } from '../../state/app.ts';
import { useApp } from '../../state/use.ts';
import { type Sample, useSample } from './use-sample.ts';
import { browserGroup, serverGroups, type VoiceGroup, type VoiceOption } from './voice-groups.ts';

/** Who reads answers aloud. */
export function VoicesSection() {
  const catalog = useApp((state) => state.catalog);
  const chosen = useApp((state) => state.settings.voice);
  const sample = useSample();
  const groups = [...serverGroups(catalog), ...browserGroup(useBrowserVoices())];
  if (catalog.status === 'ready' && groups.length === 0) return <p>{t('voices.none')}</p>;
  const automatic = { value: '', label: t('voices.automatic'), hint: t('voices.automaticHint') };
  return (
    <>
      {catalog.status === 'failed' && <ProblemText text={t('errors.unreachable')} />}
      <p class="hint">{t('voices.hint')}</p>
      <ul class="rows">
        <VoiceRow option={automatic} chosen={chosen} />
      </ul>
      <p class={catalog.status === 'loading' ? 'nothing' : 'hidden'} role="status">
        {catalog.status === 'loading' && t('shell.loading')}
      </p>
      {groups.map((group) => (
        <section key={group.id} aria-label={group.title}>
          <h3>{group.title}</h3>
          <ul class="rows">
            {group.options.map((option) => (
              <VoiceRow key={option.value} option={option} chosen={chosen} sample={sample} />
            ))}
            {group.takesName !== undefined && <OtherVoice group={group} chosen={chosen} sample={sample} />}
          </ul>
        </section>
      ))}
    </>
  );
}

function choose(voice: string): void {
  app.dispatch({ type: 'settings/changed', change: { voice } });
}

interface VoiceRowProps {
  readonly option: VoiceOption;
  readonly chosen: string;
  readonly sample?: Sample;
}

function VoiceRow({ option: { value, label, hint }, chosen, sample }: VoiceRowProps) {
  return (
    <li class="row">
      <label class="row-words voice">
        <input type="radio" name="voice" checked={value === chosen} onChange={() => choose(value)} />
        <span>
          <span>{label}</span>
          {hint !== undefined && <small>{hint}</small>}
        </span>
      </label>
      {sample !== undefined && <Listen voice={value} label={label} sample={sample} />}
    </li>
  );
}

/** A voice by the name that its provider gives it. */
function OtherVoice({ group, chosen, sample }: { group: VoiceGroup; chosen: string; sample: Sample }) {
  const isChosen = chosen.startsWith(`${group.id}/`);
  const [name, setName] = useState(isChosen ? chosen.slice(group.id.length + 1) : '');
  const value = name.trim() === '' ? group.id : `${group.id}/${name.trim()}`;
  return (
    <li class="row">
      <label class="field row-words">
        <span>{t('voices.other', { provider: group.takesName ?? '' })}</span>
        <input
          type="text"
          autocomplete="off"
          spellcheck={false}
          value={name}
          placeholder={t('voices.otherHint')}
          onInput={(event) => setName(event.currentTarget.value)}
          onChange={() => choose(value)}
        />
      </label>
      {name.trim() !== '' && <Listen voice={value} label={name} sample={sample} />}
    </li>
  );
}

function Listen({ voice, label, sample }: { voice: string; label: string; sample: Sample }) {
  const isPlaying = sample.playing === voice;
  return (
    <IconButton
      icon={isPlaying ? 'stop' : 'speaker'}
      label={isPlaying ? t('voices.stop') : t('voices.listenTo', { voice: label })}
      onClick={() => (isPlaying ? sample.stop() : sample.listen(voice))}
    />
  );
}

/** Browsers tell theirs when they have found them. */
function useBrowserVoices(): readonly SpeechSynthesisVoice[] {
  const read = (): readonly SpeechSynthesisVoice[] =>
    'speechSynthesis' in globalThis ? speechSynthesis.getVoices() : [];
  const [voices, setVoices] = useState(read);
  useEffect(() => {
    if (!('speechSynthesis' in globalThis)) return;
    const take = (): void => setVoices(read());
    speechSynthesis.addEventListener('voiceschanged', take);
    return () => speechSynthesis.removeEventListener('voiceschanged', take);
  }, []);
  return voices;
}
