import { ScreenHead } from '../../components/ScreenHead.tsx';
import { t } from '../../i18n/index.ts';
import { addressOf } from '../../state/route.ts';
import type { ScreenProps } from '../props.ts';
import { RequestsView } from './RequestsView.tsx';
import { RequestView } from './RequestView.tsx';
import { UsageView } from './UsageView.tsx';
import './dashboard.css';

/** What was used and how it went: `#/dashboard`, `#/dashboard/requests`, `#/dashboard/requests/<id>`. */
export default function DashboardScreen({ path }: ScreenProps) {
  const isLog = path[0] === 'requests';
  const id = isLog ? path[1] : undefined;
  return (
    <>
      <ScreenHead title={t('dashboard.title')} />
      <main class="screen-body" tabIndex={-1}>
        <div class="dashboard">
          <nav class="tabs" aria-label={t('dashboard.title')}>
            <a href={addressOf('dashboard')} aria-current={isLog ? undefined : 'page'}>
              {t('dashboard.usage')}
            </a>
            <a href={addressOf('dashboard', 'requests')} aria-current={isLog ? 'page' : undefined}>
              {t('dashboard.log')}
            </a>
          </nav>
          {id !== undefined ? <RequestView key={id} id={id} /> : isLog ? <RequestsView /> : <UsageView />}
        </div>
      </main>
    </>
  );
}
