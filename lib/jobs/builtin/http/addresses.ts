import { BlockList, isIPv6 } from "node:net";

/**
 * What is no public host: the blocks of the IANA IPv4 and IPv6 Special-Purpose Address Registries (RFC 6890) that are not
 * globally reachable, multicast, and the translated ones (NAT64, 6to4, Teredo), behind which any IPv4 address may hide.
 */
const IPV4_SUBNETS = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
] as const;

const IPV6_SUBNETS = [
  ["::", 96],
  ["64:ff9b::", 96],
  ["64:ff9b:1::", 48],
  ["100::", 64],
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
  ["5f00::", 16],
  ["fc00::", 7],
  ["fe80::", 10],
  ["fec0::", 10],
  ["ff00::", 8],
] as const;

const notPublic = new BlockList();
for (const [network, prefix] of IPV4_SUBNETS) notPublic.addSubnet(network, prefix, "ipv4");
for (const [network, prefix] of IPV6_SUBNETS) notPublic.addSubnet(network, prefix, "ipv6");

/** Whether `address`, an IP address in text, is one that anybody on the internet can reach. IPv4 addresses mapped into IPv6 are judged as what they are. */
export const isPublicAddress = (address: string): boolean =>
  !notPublic.check(address, isIPv6(address) ? "ipv6" : "ipv4");
