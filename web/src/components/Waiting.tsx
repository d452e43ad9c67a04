/** Three points that come and go. */
export function Waiting({ label }: { readonly label: string }) {
  return (
    <p class="waiting" role="status">
      <i />
      <i />
      <i />
      <span class="hidden">{label}</span>
    </p>
  );
}
