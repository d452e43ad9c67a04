import { useState } from 'preact/hooks';
import { Dialog } from '../../components/Dialog.tsx';
import { DropArea } from '../../components/DropArea.tsx';
import { Icon } from '../../components/Icon.tsx';
import { t } from '../../i18n/index.ts';
import { addressOf } from '../../state/route.ts';
import type { OverlayProps } from '../props.ts';
import { type FileReport, importFile } from './import.ts';
import type { Problem } from './read.ts';
import './transfer.css';

/** Takes in chats of other programs and of other browsers, and says of each file what became of it. */
export default function ImportDialog({ close }: OverlayProps) {
  const [reports, setReports] = useState<readonly FileReport[]>([]);
  const [isBusy, setBusy] = useState(false);

  const take = async (files: readonly File[]): Promise<void> => {
    if (files.length === 0 || isBusy) return;
    setBusy(true);
    for (const file of files) {
      const report = await importFile(file);
      setReports((before) => [...before, report]);
    }
    setBusy(false);
  };
  const hasImported = reports.some(({ imported }) => imported.length > 0);
  return (
    <Dialog title={t('transfer.importTitle')} onClose={close} class="import">
      <p class="hint">{t('transfer.importHint')}</p>
      <DropArea
        id="import-files"
        choose={t('transfer.choose')}
        hint={t('transfer.drop')}
        multiple
        accept=".json,.jsonl,.zip,application/json,application/zip"
        isBusy={isBusy}
        take={(files) => void take(files)}
      />
      <div role="status" class="reports">
        {isBusy && <p class="hint">{t('transfer.reading')}</p>}
        {reports.map((report, index) => (
          <Report key={index} report={report} />
        ))}
      </div>
      {hasImported && !isBusy && (
        <div class="row-end">
          <a class="button is-primary" href={addressOf('history')} onClick={close}>
            {t('transfer.show')}
          </a>
        </div>
      )}
    </Dialog>
  );
}

const REASONS = ['known', 'empty', 'unknown', 'broken', 'unread'] as const satisfies readonly Problem['reason'][];
/** Titles that are told of each kind. */
const TOLD = 20;

function Report({
  report: { name, forms, imported, problems, leftOut, isCut, failure },
}: {
  readonly report: FileReport;
}) {
  return (
    <section class="report" aria-label={name}>
      <h3 dir="auto">{name}</h3>
      {forms.length > 0 && <p class="hint">{t('transfer.from', { program: forms.join(', ') })}</p>}
      {failure !== undefined && (
        <p class="problem">
          <Icon name="warning" size={14} /> {t(`transfer.${failure}`)}
        </p>
      )}
      {imported.length > 0 && (
        <p>
          <Icon name="check" size={14} /> {t('transfer.imported', { count: imported.length })}
        </p>
      )}
      {isCut && (
        <p class="problem">
          <Icon name="warning" size={14} /> {t('transfer.cut')}
        </p>
      )}
      {failure !== 'noChats' &&
        REASONS.map((reason) => {
          const titles = problems.filter((problem) => problem.reason === reason).map(({ title }) => title);
          if (titles.length === 0) return null;
          const named = titles.filter((title) => title !== '');
          return (
            <details key={reason} class="report-problem">
              <summary>{t(`transfer.${reason}`, { count: titles.length })}</summary>
              <ul>
                {named.slice(0, TOLD).map((title, index) => (
                  <li key={index} dir="auto">
                    {title}
                  </li>
                ))}
                {named.length > TOLD && <li>…</li>}
              </ul>
            </details>
          );
        })}
      {leftOut > 0 && <p class="hint">{t('transfer.leftOut', { count: leftOut })}</p>}
    </section>
  );
}
