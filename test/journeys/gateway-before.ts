import { type Gateway, startGateway } from '../support/gateway.ts';

interface Closable {
  close(): Promise<void>;
}

/** A gateway before upstreams, which close together. When it does not start they close at once: they would keep the process. */
export async function startGatewayBefore(
  upstreams: readonly Closable[],
  yaml: string,
): Promise<{ readonly gateway: Gateway; close(): Promise<void> }> {
  const closeUpstreams = async (): Promise<void> => {
    await Promise.all(upstreams.map((upstream) => upstream.close()));
  };
  let gateway: Gateway;
  try {
    gateway = await startGateway(yaml);
  } catch (error) {
    await closeUpstreams();
    throw error;
  }
  return {
    gateway,
    async close() {
      await gateway.close();
      await closeUpstreams();
    },
  };
}
