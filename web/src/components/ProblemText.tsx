/** What went wrong, in words; nothing where there are none. */
export function ProblemText({ text }: { readonly text: string }) {
  return text === '' ? null : (
    <p class="problem" role="alert">
      {text}
    </p>
  );
}
