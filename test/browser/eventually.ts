/** Tries until `check` no longer throws, for at most as long as anything on the page may take. */
export async function eventually(check: () => Promise<void>, milliseconds = 15_000): Promise<void> {
  const end = Date.now() + milliseconds;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() > end) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
