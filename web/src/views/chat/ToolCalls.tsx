import { Icon } from '../../components/Icon.tsx';
import { t } from '../../i18n/index.ts';
import type { ToolCall } from '../../state/model.ts';

/** The tools that the model used or wants to use, with what it gave them and what came back. */
export function ToolCalls({ calls, isRunning }: { readonly calls: readonly ToolCall[]; readonly isRunning: boolean }) {
  return (
    <ul class="tools">
      {calls.map((call) => (
        <li key={call.index}>
          <details>
            <summary>
              <Icon name="tool" /> <span>{t('chat.tool', { name: call.name })}</span>
              {isRunning && call.result === undefined && <span class="dot" aria-hidden="true" />}
            </summary>
            <h4>{t('chat.toolArguments')}</h4>
            <pre>{pretty(call.arguments)}</pre>
            {call.result !== undefined && (
              <>
                <h4>{t('chat.toolResult')}</h4>
                <pre>{pretty(call.result)}</pre>
              </>
            )}
          </details>
        </li>
      ))}
    </ul>
  );
}

function pretty(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 2);
  } catch {
    return json;
  }
}
