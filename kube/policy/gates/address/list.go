// Package address decides which servers the manager asks in the name of a policy's author. The operator lists them; the author chooses one
// of the list. The list is applied twice: to the address as it is written, and to each IP address that a name resolves to, which is the one
// that is dialed. Addresses of the machine itself and of the cloud's metadata are never dialed unless the operator lists exactly that
// address.
package address

import (
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Flag is the manager's flag with the list.
const Flag = "gate-addresses"

// anyPort is the port of a pattern that allows every port.
const anyPort = "*"

// List holds the addresses that the operator allows. The zero List allows none.
type List struct{ patterns []pattern }

// pattern allows a name or a network, at a port.
type pattern struct {
	// name is a DNS name in lower case, with *. in front for all names below it; empty for a network.
	name    string
	network netip.Prefix
	// port is a number, anyPort, or empty for the default port of http or https.
	port string
}

// names are DNS names. The last label is not a number: resolvers take 127.1 for an IP address.
var names = regexp.MustCompile(`^(\*\.)?([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)*[a-z]([a-z0-9-]*[a-z0-9])?$`)

// maxName is the length of the longest DNS name.
const maxName = 253

// Parse returns the list that the values of the flag are.
func Parse(values []string) (List, error) {
	var l List
	for _, text := range values {
		p, ok := parsePattern(strings.ToLower(strings.TrimSpace(text)))
		if !ok {
			return List{}, fmt.Errorf("--%s: want host, host:port, an IP address or a network in CIDR notation such as prometheus.monitoring:9090, "+
				"*.example.com or 10.0.0.0/24:9090 (port *: any port), found %q", Flag, text)
		}
		l.patterns = append(l.patterns, p)
	}
	return l, nil
}

// Empty reports whether the operator allows no address.
func (l List) Empty() bool { return len(l.patterns) == 0 }

func parsePattern(text string) (pattern, bool) {
	host, port, ok := splitPort(text)
	if !ok {
		return pattern{}, false
	}
	if network, err := netip.ParsePrefix(host); err == nil {
		return pattern{network: network, port: port}, network == network.Masked() && !network.Addr().Is4In6()
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		ip = ip.Unmap()
		return pattern{network: netip.PrefixFrom(ip, ip.BitLen()), port: port}, ip.Zone() == ""
	}
	return pattern{name: host, port: port}, len(host) <= maxName && names.MatchString(host)
}

// splitPort splits host:port, with an IPv6 address or network of a port in brackets. The port can be absent.
func splitPort(text string) (host, port string, ok bool) {
	if rest, bracket := strings.CutPrefix(text, "["); bracket {
		if host, rest, ok = strings.Cut(rest, "]"); !ok || !strings.Contains(host, ":") {
			return "", "", false
		}
		if rest == "" {
			return host, "", true
		}
		port, ok = strings.CutPrefix(rest, ":")
		return host, port, ok && validPort(port)
	}
	if strings.Count(text, ":") != 1 {
		return text, "", true
	}
	host, port, _ = strings.Cut(text, ":")
	return host, port, validPort(port)
}

// validPort reports whether a port of a pattern is a number or anyPort.
func validPort(port string) bool {
	n, err := strconv.ParseUint(port, 10, 16)
	return port == anyPort || err == nil && n > 0 && port == strconv.FormatUint(n, 10)
}

// allowsPort reports whether a pattern allows the port of an address.
func (p pattern) allowsPort(a Address) bool {
	return p.port == anyPort || p.port == a.port || p.port == "" && a.port == a.defaultPort()
}

// allowsName reports whether a pattern allows the name of an address.
func (p pattern) allowsName(a Address) bool {
	if p.name == "" || a.ip.IsValid() || !p.allowsPort(a) {
		return false
	}
	if below, wild := strings.CutPrefix(p.name, "*"); wild {
		return strings.HasSuffix(a.host, below) && len(a.host) > len(below)
	}
	return p.name == a.host
}

// allowsIP reports whether a pattern allows an IP address at the port of an address.
func (p pattern) allowsIP(a Address, ip netip.Addr) bool {
	return p.name == "" && p.network.Contains(ip) && p.allowsPort(a)
}

// resolves reports whether a pattern allows names that resolve into its network. A single IP address allows no name.
func (p pattern) resolves() bool { return p.name == "" && !p.network.IsSingleIP() }

// Allows returns an error unless the list allows an address as it is written. A name that only a network can allow is decided when it is
// resolved.
func (l List) Allows(a Address) error {
	if a.ip.IsValid() {
		return l.allowsIP(a, a.ip)
	}
	if l.named(a) || slices.ContainsFunc(l.patterns, func(p pattern) bool { return p.resolves() && p.allowsPort(a) }) {
		return nil
	}
	return l.notListed()
}

// MayDial returns an error unless the list allows to dial an IP address that the name of an address resolves to.
func (l List) MayDial(a Address, ip netip.Addr) error {
	if a.ip.IsValid() && a.ip != ip.Unmap() {
		return l.notListed()
	}
	return l.allowsIP(a, ip)
}

// allowsIP returns an error unless the IP address is listed, or its name is and the address is none of those that are refused.
func (l List) allowsIP(a Address, ip netip.Addr) error {
	ip = ip.Unmap()
	var listed, exact bool
	for _, p := range l.patterns {
		if p.allowsIP(a, ip) {
			listed, exact = listed || a.ip.IsValid() || p.resolves(), exact || p.network.IsSingleIP()
		}
	}
	switch why := refused(ip); {
	case !listed && !l.named(a):
		return l.notListed()
	case why != "" && !exact:
		return &Error{"the address is " + why + ", which is asked only if the operator adds exactly that address to --" + Flag}
	default:
		return nil
	}
}

// named reports whether the list has the name of an address.
func (l List) named(a Address) bool {
	return slices.ContainsFunc(l.patterns, func(p pattern) bool { return p.allowsName(a) })
}

// notListed returns the error for an address that the operator does not allow.
func (l List) notListed() error {
	if l.Empty() {
		return &Error{"no address is allowed: have the operator set --" + Flag + " of the manager"}
	}
	return &Error{"the address is not allowed: have the operator add it to --" + Flag + " of the manager"}
}
