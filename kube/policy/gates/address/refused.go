package address

import "net/netip"

// special are networks that no policy's author may have the manager reach, each with what it is.
var special = []struct {
	network netip.Prefix
	is      string
}{
	{netip.MustParsePrefix("127.0.0.0/8"), loopback},
	{netip.MustParsePrefix("::1/128"), loopback},
	{netip.MustParsePrefix("0.0.0.0/8"), unspecified},
	{netip.MustParsePrefix("::/128"), unspecified},
	{netip.MustParsePrefix("169.254.0.0/16"), linkLocal},
	{netip.MustParsePrefix("fe80::/10"), linkLocal},
	{netip.MustParsePrefix("224.0.0.0/4"), multicast},
	{netip.MustParsePrefix("ff00::/8"), multicast},
	{netip.MustParsePrefix("240.0.0.0/4"), "a reserved address"},
	// Metadata and agents of clouds outside of the link-local networks.
	{netip.MustParsePrefix("100.100.100.200/32"), metadata},
	{netip.MustParsePrefix("168.63.129.16/32"), metadata},
	{netip.MustParsePrefix("192.0.0.0/24"), metadata},
	{netip.MustParsePrefix("fd00:ec2::/32"), metadata},
	{netip.MustParsePrefix("fd00:42::42/128"), metadata},
	{netip.MustParsePrefix("fd20:ce::254/128"), metadata},
}

const (
	loopback    = "a loopback address"
	unspecified = "an unspecified address"
	linkLocal   = "a link-local address"
	multicast   = "a multicast address"
	metadata    = "an address of cloud metadata"
)

// wrapping are IPv6 networks whose addresses lead to the IPv4 address that they hold from a byte on.
var wrapping = []struct {
	network netip.Prefix
	from    int
}{
	{netip.MustParsePrefix("::/96"), 12},          // IPv4-compatible
	{netip.MustParsePrefix("64:ff9b::/96"), 12},   // NAT64
	{netip.MustParsePrefix("64:ff9b:1::/48"), 12}, // NAT64 of a network's own
	{netip.MustParsePrefix("2002::/16"), 2},       // 6to4
}

// refused returns what an address is that is dialed only if exactly that address is listed; empty for any other.
func refused(ip netip.Addr) string {
	ip = ip.Unmap()
	if !ip.IsValid() || ip.Zone() != "" {
		return linkLocal
	}
	for _, s := range special {
		if s.network.Contains(ip) {
			return s.is
		}
	}
	for _, w := range wrapping {
		if w.network.Contains(ip) {
			bytes := ip.As16()
			return refused(netip.AddrFrom4([4]byte(bytes[w.from : w.from+4])))
		}
	}
	return ""
}
