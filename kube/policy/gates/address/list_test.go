package address

import (
	"errors"
	"net/netip"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func parsed(t *testing.T, values ...string) List {
	t.Helper()
	l, err := Parse(values)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestParse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		value string
		ok    bool
		why   string
	}{
		{"prometheus.monitoring:9090", true, "a Service with its port"},
		{"Prometheus.Monitoring.svc", true, "the default port of its scheme"},
		{"prometheus.monitoring:*", true, "any port"},
		{"*.example.com", true, "all names below one"},
		{"10.0.0.7", true, "one IP address"},
		{"10.0.0.0/24:9090", true, "a network with a port"},
		{"fd00:10::/64", true, "an IPv6 network"},
		{"[fd00:10::7]:9090", true, "an IPv6 address with a port"},
		{"[fd00:10::/64]:*", true, "an IPv6 network with any port"},
		{"", false, "no address"},
		{"*", false, "every name: the operator names them"},
		{"*.", false, "every name"},
		{"a.*.example.com", false, "a wildcard in the middle"},
		{"10.0.0.7/24", false, "bits of a host in a network, which is a slip"},
		{"127.1", false, "resolvers take it for 127.0.0.1"},
		{"0x7f000001", false, "so they do with hexadecimal numbers"},
		{"prometheus:0", false, "no port"},
		{"prometheus:09090", false, "another port than it looks like"},
		{"prometheus:http", false, "ports are numbers"},
		{"https://prometheus:9090", false, "a URL is no host"},
		{"prometheus/path", false, "paths are not limited"},
		{"[prometheus]:9090", false, "brackets are for IPv6"},
		{"[fd00::1", false, "an open bracket"},
		{"fe80::1%eth0", false, "zones are of one machine"},
		{"::ffff:10.0.0.0/120", false, "IPv4 networks are written as such"},
		{strings.Repeat("a", 300), false, "longer than a name can be"},
	} {
		_, err := Parse([]string{c.value})
		if (err == nil) != c.ok {
			t.Errorf("%q (%s): want ok %t, got %v", c.value, c.why, c.ok, err)
		}
		if err != nil && !strings.Contains(err.Error(), Flag) {
			t.Errorf("%q: want the flag named, got %v", c.value, err)
		}
	}
}

func TestNew(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		ok   bool
		why  string
	}{
		{"https://prometheus.monitoring:9090", true, "a Service"},
		{"http://prometheus", true, "the default port"},
		{"https://example.com/tenants/a/prometheus/", true, "a path in front of the API"},
		{"https://[fd00::7]:9090", true, "IPv6"},
		{"https://Prometheus.Monitoring.svc.cluster.local.:9090", true, "a name with a dot at its end"},
		{"prometheus:9090", false, "no scheme"},
		{"ftp://prometheus", false, "another scheme"},
		{"file:///etc/passwd", false, "a file"},
		{"unix:///run/docker.sock", false, "a socket"},
		{"https:prometheus", false, "opaque"},
		{"https://", false, "no host"},
		{"https://user:secret@prometheus", false, "credentials in the address"},
		{"https://allowed@evil.example", false, "a host that looks like a user"},
		{"https://prometheus?x=1", false, "a query"},
		{"https://prometheus?", false, "an empty query"},
		{"https://prometheus#x", false, "a fragment"},
		{"https://prometheus:0", false, "no port"},
		{"https://prometheus:99999", false, "no port"},
		{"https://*.example.com", false, "a pattern"},
		{"https://127.1", false, "a number for an IP address"},
		{"https://2130706433", false, "a number for an IP address"},
		{"https://0x7f.1", false, "a number for an IP address"},
		{"https://[fe80::1%25eth0]", false, "a zone"},
		{"https://prometheus\r\nHost: evil", false, "a second header"},
		{"https://prometheus\\evil", false, "a backslash"},
		{"https://" + strings.Repeat("a", 2000), false, "too long"},
	} {
		_, err := New(c.text)
		if (err == nil) != c.ok {
			t.Errorf("%q (%s): want ok %t, got %v", c.text, c.why, c.ok, err)
		}
		if err != nil && !errors.Is(err, ErrForm) {
			t.Errorf("%q: want the error without the address, got %v", c.text, err)
		}
	}
}

// TestAllows holds which addresses of a policy are asked, by the operator's list.
func TestAllows(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		list    []string
		address string
		ok      bool
		why     string
	}{
		{nil, "https://prometheus:9090", false, "the operator lists nothing"},
		{[]string{"prometheus.monitoring:9090"}, "https://prometheus.monitoring:9090", true, "the listed Service"},
		{[]string{"prometheus.monitoring:9090"}, "http://PROMETHEUS.monitoring.:9090/x", true, "the same in another spelling"},
		{[]string{"prometheus.monitoring:9090"}, "https://prometheus.monitoring", false, "another port"},
		{[]string{"prometheus.monitoring:9090"}, "https://prometheus.monitoring.evil.example:9090", false, "a name that begins alike"},
		{[]string{"prometheus.monitoring"}, "https://prometheus.monitoring", true, "the default port of https"},
		{[]string{"prometheus.monitoring"}, "http://prometheus.monitoring:443", false, "the default port of another scheme"},
		{[]string{"prometheus.monitoring:*"}, "http://prometheus.monitoring:8080", true, "any port"},
		{[]string{"*.example.com"}, "https://a.b.example.com", true, "a name below"},
		{[]string{"*.example.com"}, "https://example.com", false, "the name itself is not below"},
		{[]string{"*.example.com"}, "https://evilexample.com", false, "a name that ends alike"},
		{[]string{"prometheus.monitoring:*"}, "https://kubernetes.default.svc", false, "the API server"},
		{[]string{"10.0.0.0/24:*"}, "https://10.0.0.9:9090", true, "an address of a listed network"},
		{[]string{"10.0.0.0/24:*"}, "https://10.0.1.9:9090", false, "an address of another network"},
		{[]string{"10.0.0.0/24:9090"}, "https://10.0.0.9:6443", false, "another port of a listed network"},
		{[]string{"10.0.0.0/24:9090"}, "https://prometheus:9090", true, "a name is decided when it is resolved"},
		{[]string{"10.0.0.0/24:9090"}, "https://prometheus:6443", false, "but not a port that no pattern has"},
		{[]string{"169.254.0.0/16:*", "0.0.0.0/0:*"}, "http://169.254.169.254", false, "metadata of the cloud, also within a listed network"},
		{[]string{"169.254.169.254"}, "http://169.254.169.254", true, "unless the operator lists exactly that"},
		{[]string{"[::/0]:*"}, "http://[fd00:ec2::254]", false, "metadata by IPv6"},
		{[]string{"0.0.0.0/0:*"}, "http://127.0.0.1:9090", false, "the manager itself"},
		{[]string{"127.0.0.1:9090"}, "http://127.0.0.1:9090", true, "unless the operator lists exactly that, as in a local world"},
		{[]string{"127.0.0.1:9090"}, "http://127.0.0.1:9440", false, "and another port of it is not"},
		{[]string{"127.0.0.1:*"}, "https://kubernetes.default.svc", false, "a name, where the operator lists an IP address"},
		{[]string{"0.0.0.0/0:*", "[::/0]:*"}, "http://[::ffff:127.0.0.1]:9090", false, "the manager itself, mapped to IPv6"},
		{[]string{"[::/0]:*"}, "http://[64:ff9b::a9fe:a9fe]", false, "metadata by NAT64"},
		{[]string{"[::/0]:*"}, "http://[2002:7f00:1::]", false, "loopback by 6to4"},
		{[]string{"0.0.0.0/0:*"}, "http://0.0.0.0:9090", false, "the manager itself, by no address"},
	} {
		a, err := New(c.address)
		if err != nil {
			t.Fatal(err)
		}
		list := parsed(t, c.list...)
		err = list.Allows(a)
		if (err == nil) != c.ok {
			t.Errorf("%v, %s (%s): want ok %t, got %v", c.list, c.address, c.why, c.ok, err)
		}
		if err != nil && !strings.Contains(err.Error(), Flag) {
			t.Errorf("%s: want the flag named, got %v", c.address, err)
		}
	}
}

// TestSpecialIsNeverDialed holds that no list of names and networks leads to a special address.
func TestSpecialIsNeverDialed(t *testing.T) {
	t.Parallel()
	list := parsed(t, "prometheus:*", "0.0.0.0/0:*", "[::/0]:*")
	a, err := New("http://prometheus:9090")
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		s := special[rapid.IntRange(0, len(special)-1).Draw(t, "network")]
		bytes := s.network.Addr().AsSlice()
		random := rapid.SliceOfN(rapid.Byte(), len(bytes), len(bytes)).Draw(t, "host")
		for k := range bytes {
			mask := byte(0)
			if bits := s.network.Bits() - 8*k; bits < 8 {
				mask = byte(0xff >> max(bits, 0))
			}
			bytes[k] |= random[k] & mask
		}
		ip, ok := netip.AddrFromSlice(bytes)
		if !ok || !s.network.Contains(ip) {
			t.Fatalf("%s is not in %s", ip, s.network)
		}
		for _, as := range spellings(ip) {
			if err := list.MayDial(a, as); err == nil {
				t.Fatalf("%s of %s may be dialed", as, s.network)
			}
		}
	})
	if err := list.MayDial(a, netip.MustParseAddr("10.1.2.3")); err != nil {
		t.Errorf("want another address dialed, got %v", err)
	}
}

// spellings returns the addresses that lead to an IP address.
func spellings(ip netip.Addr) []netip.Addr {
	if !ip.Is4() {
		return []netip.Addr{ip}
	}
	four := ip.As4()
	mapped := netip.AddrFrom16(ip.As16())
	nat := netip.MustParseAddr("64:ff9b::").As16()
	copy(nat[12:], four[:])
	tunnel := netip.MustParseAddr("2002::").As16()
	copy(tunnel[2:], four[:])
	return []netip.Addr{ip, mapped, netip.AddrFrom16(nat), netip.AddrFrom16(tunnel)}
}

func FuzzNew(f *testing.F) {
	f.Add("https://prometheus.monitoring:9090/x")
	f.Add("http://[::1]:80")
	list, err := Parse([]string{"prometheus.monitoring:9090"})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		a, err := New(text)
		if err != nil || list.Allows(a) != nil {
			return
		}
		u := a.Join("api", "v1", "query")
		if u.Port() != "9090" || !strings.EqualFold(strings.TrimSuffix(u.Hostname(), "."), "prometheus.monitoring") || u.User != nil ||
			u.RawQuery != "" {
			t.Errorf("%q: want a request to the listed server alone, got %s", text, u)
		}
	})
}
