import { useState } from 'preact/hooks';
import { loadRequest, type WholeRequest } from '../../api/observe.ts';
import { Choices } from '../../components/Choices.tsx';
import { copy } from '../../components/copy.ts';
import { Icon } from '../../components/Icon.tsx';
import { IconButton } from '../../components/IconButton.tsx';
import { Problem } from '../../components/Problem.tsx';
import { t } from '../../i18n/index.ts';
import { type LoggedMessage, loggedChat } from '../../state/logged-chat.ts';
import { addressOf } from '../../state/route.ts';
import { asCurl, asNode, asPython, hasSdkCall } from '../../state/snippets.ts';
import { Markdown } from '../chat/Markdown.tsx';
import { dollars, milliseconds, moment } from './figures.ts';
import { useLoaded } from './use-loaded.ts';

type Form = 'chat' | 'curl' | 'python' | 'node';

/** One request: how it went, what was said, and how to make the same one. */
export function RequestView({ id }: { readonly id: string }) {
  const { value, failure, again } = useLoaded((signal) => loadRequest(id, signal), [id]);
  return (
    <>
      <p>
        <a class="back" href={addressOf('dashboard', 'requests')}>
          <Icon name="left" /> {t('dashboard.log')}
        </a>
      </p>
      {failure?.status === 404 ? (
        <p class="nothing">{t('dashboard.gone')}</p>
      ) : (
        <Problem failure={failure} again={again} />
      )}
      {value !== undefined && <Whole request={value} />}
    </>
  );
}

function Whole({ request }: { readonly request: WholeRequest }) {
  const [form, setForm] = useState<Form>('chat');
  const code = form === 'chat' ? '' : codeOf(request, form);
  const sdk: readonly (readonly [Form, string])[] = hasSdkCall(request)
    ? [
        ['python', 'Python'],
        ['node', 'Node.js'],
      ]
    : [];
  return (
    <>
      <h2 class="request-title">{request.model ?? request.asked ?? request.route}</h2>
      <Facts request={request} />
      <Attempts request={request} />
      <Choices
        isPlain
        label={t('dashboard.view')}
        value={form}
        options={[['chat', t('dashboard.asChat')], ['curl', 'curl'], ...sdk]}
        onChange={setForm}
      />
      {form === 'chat' ? (
        <Said request={request} />
      ) : (
        <div class="snippet">
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard */}
          <pre tabIndex={0}>
            <code id="snippet" dir="ltr">
              {code}
            </code>
          </pre>
          <IconButton icon="copy" label={t('chat.copy')} onClick={() => void copy(code)} />
        </div>
      )}
      {form !== 'chat' && request.request === null && <p class="hint">{t('dashboard.noContent')}</p>}
      {request.request?.truncated === true && <p class="hint">{t('dashboard.truncated')}</p>}
    </>
  );
}

function codeOf(request: WholeRequest, form: Exclude<Form, 'chat'>): string {
  const make = { curl: asCurl, python: asPython, node: asNode }[form];
  return make(request, location.origin);
}

function Facts({ request }: { readonly request: WholeRequest }) {
  const { usage, error } = request;
  const facts: readonly (readonly [string, string | undefined])[] = [
    [t('dashboard.when'), moment(request.time)],
    [t('dashboard.status'), error === null ? String(request.status) : `${request.status} · ${error.code}`],
    [t('dashboard.provider'), request.provider ?? undefined],
    [t('dashboard.asked'), request.asked ?? undefined],
    [t('dashboard.route'), `${request.method} ${request.route}`],
    [t('dashboard.user'), request.user === 'unknown' ? undefined : request.user],
    [t('dashboard.firstWords'), request.first_chunk_ms === null ? undefined : milliseconds(request.first_chunk_ms)],
    [t('dashboard.whole'), milliseconds(request.duration_ms)],
    [
      t('dashboard.tokens'),
      usage === null
        ? undefined
        : `${usage.estimated ? '≈ ' : ''}${t('chat.tokens', { prompt: usage.prompt_tokens, completion: usage.completion_tokens })}`,
    ],
    [t('dashboard.cost'), request.cost === null ? undefined : dollars(request.cost)],
    ['x-request-id', request.id],
  ];
  return (
    <>
      {error?.message != null && (
        <p class="error">
          <Icon name="warning" />
          <span dir="auto">{error.message}</span>
        </p>
      )}
      <dl class="facts">
        {facts.map(
          ([name, value]) =>
            value !== undefined && (
              <div key={name}>
                <dt>{name}</dt>
                <dd>{value}</dd>
              </div>
            ),
        )}
      </dl>
    </>
  );
}

function Attempts({ request }: { readonly request: WholeRequest }) {
  if (request.failed_attempts.length === 0) return null;
  return (
    <section aria-labelledby="attempts-title">
      <h3 id="attempts-title">{t('dashboard.failedAttempts')}</h3>
      <ol class="attempts">
        {request.failed_attempts.map(({ provider, model, code, status, duration_ms: duration }, index) => (
          // Attempts have no name of their own.
          <li key={index}>
            <strong>{provider}</strong> {model} · <code>{code}</code> {status} · {milliseconds(duration)}
          </li>
        ))}
      </ol>
    </section>
  );
}

/** The request as a conversation. */
function Said({ request }: { readonly request: WholeRequest }) {
  const messages = loggedChat(request.request?.body);
  const { answer } = request;
  if (messages.length === 0 && answer === null) return <p class="nothing">{t('dashboard.noContent')}</p>;
  return (
    <div class="said">
      {messages.map((message, index) => (
        // They stand as they were sent, and nothing moves.
        <Message key={index} message={message} />
      ))}
      {answer !== null && (
        <article class="said-answer" aria-label={t('chat.answer')}>
          {answer.reasoning !== '' && (
            <details>
              <summary>{t('chat.thoughts')}</summary>
              <Markdown text={answer.reasoning} done />
            </details>
          )}
          {answer.text !== '' && <Markdown text={answer.text} done />}
          {answer.tool_calls.map(({ name, arguments: given }, index) => (
            <pre key={index}>
              <code>
                {name}({given})
              </code>
            </pre>
          ))}
          {answer.truncated && <p class="hint">{t('dashboard.truncated')}</p>}
        </article>
      )}
    </div>
  );
}

function Message({ message: { role, text, others } }: { readonly message: LoggedMessage }) {
  const isUser = role === 'user';
  return (
    <article class={isUser ? 'said-user' : 'said-other'}>
      {!isUser && <small class="hint">{role}</small>}
      <div class={isUser ? 'bubble' : 'said-text'} dir="auto">
        {text}
        {others.length > 0 && <small class="hint"> [{others.join(', ')}]</small>}
      </div>
    </article>
  );
}
