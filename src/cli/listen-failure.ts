import { hostAndPort } from '../config/bind.ts';
import type { Config } from '../config/config.ts';
import { EXIT_FAILED, Failure } from './failure.ts';

/** Why Sluice cannot listen, and what to do about it, in one line. */
export function listenFailure(error: unknown, { host, port }: Config['bind']): Failure {
  const { code, message } = error as NodeJS.ErrnoException;
  return new Failure(
    explain(code, host, port) ?? `cannot listen on ${hostAndPort(host, port)}: ${message}`,
    EXIT_FAILED,
  );
}

function explain(code: string | undefined, host: string, port: number): string | undefined {
  const address = hostAndPort(host, port);
  const other = `--bind ${hostAndPort(host, port === 65_535 ? port - 1 : port + 1)}`;
  switch (code) {
    case 'EADDRINUSE':
      return `port ${port} on ${host} is in use: end the program that uses it, or choose another port, for example ${other}`;
    case 'EACCES':
      return `no permission to listen on ${address}: choose a port from 1024 up, for example --bind ${hostAndPort(host, 1337)}`;
    case 'EADDRNOTAVAIL':
      return `cannot listen on ${address}: this machine has no address ${host}; 127.0.0.1 is for this machine only, 0.0.0.0 for all networks`;
    case 'EINVAL':
      return host.includes(':')
        ? `cannot listen on ${address}: an address of one link needs a network interface of this machine, as in [fe80::1%eth0]`
        : undefined;
    case 'EAFNOSUPPORT':
      return `cannot listen on ${address}: this machine has no ${host.includes(':') ? 'IPv6' : 'IPv4'}`;
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `cannot listen on ${address}: the host name ${host} is not known`;
    default:
      return undefined;
  }
}
