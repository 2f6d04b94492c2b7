import { describe, expect, it } from "vitest";
import { isPublicAddress } from "../../../../lib/jobs/builtin/http/addresses.ts";
import { parseAllowList } from "../../../../lib/jobs/builtin/http/allow-list.ts";

describe("the allow-list", () => {
  const allowList = parseAllowList(["api.example.com", "*.partner.example", "http://10.0.0.5:8080"]);
  const permission = (url: string) => allowList(new URL(url));

  it.each([
    "https://api.example.com/v1?x=1",
    "https://API.example.com/",
    "https://api.example.com:443/",
    "https://eu.partner.example/",
    "https://a.b.partner.example/",
  ])("lets %s be called at a public address", (url) => {
    expect(permission(url)).toEqual({ kind: "allowed", anyAddress: false });
  });

  it("lets a listed origin be called wherever it leads", () => {
    expect(permission("http://10.0.0.5:8080/path")).toEqual({ kind: "allowed", anyAddress: true });
  });

  it.each([
    ["http://api.example.com/", "must be https on its default port, got http://api.example.com"],
    ["https://api.example.com:8443/", "must be https on its default port, got https://api.example.com:8443"],
    [
      "https://evil.example/",
      "must have a host on the deployment's allow-list (httpAllowedHosts), got https://evil.example",
    ],
    [
      "https://partner.example/",
      "must have a host on the deployment's allow-list (httpAllowedHosts), got https://partner.example",
    ],
    [
      "https://notpartner.example/",
      "must have a host on the deployment's allow-list (httpAllowedHosts), got https://notpartner.example",
    ],
    [
      "https://api.example.com.evil.example/",
      "must have a host on the deployment's allow-list (httpAllowedHosts), got https://api.example.com.evil.example",
    ],
    [
      "https://api.example.com./",
      "must have a host on the deployment's allow-list (httpAllowedHosts), got https://api.example.com.",
    ],
    ["http://10.0.0.5/", "must have a host on the deployment's allow-list (httpAllowedHosts), got http://10.0.0.5"],
    [
      "https://10.0.0.5:8080/",
      "must have a host on the deployment's allow-list (httpAllowedHosts), got https://10.0.0.5:8080",
    ],
    ["https://user:secret@api.example.com/", "must not carry credentials"],
  ])("does not let %s be called", (url, reason) => {
    expect(permission(url)).toEqual({ kind: "denied", reason });
  });

  it.each([
    "",
    "*",
    "example",
    "https://api.example.com/path",
    "ftp://a.example",
    "API.example.com",
    "*.*.example.com",
  ])("cannot be read with the entry %j", (entry) => {
    expect(() => parseAllowList([entry])).toThrow(
      /^an entry of the allow-list must be a host .* or an origin .*, got /,
    );
  });
});

describe("an address", () => {
  it.each(["93.184.215.14", "8.8.8.8", "2606:2800:21f:cb07::1", "::ffff:8.8.8.8"])("%s is public", (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });

  it.each([
    "127.0.0.1",
    "10.1.2.3",
    "172.31.255.255",
    "192.168.0.1",
    "169.254.169.254",
    "100.64.0.1",
    "0.0.0.0",
    "224.0.0.1",
    "255.255.255.255",
    "::1",
    "::",
    "fe80::1",
    "fd00:ec2::254",
    "::ffff:127.0.0.1",
    "::ffff:169.254.169.254",
    "::127.0.0.1",
    "64:ff9b::a9fe:a9fe",
    "2002:a00:1::",
  ])("%s is not", (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });
});
