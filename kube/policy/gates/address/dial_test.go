package address

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"
)

// TestDialContext holds which IP addresses are dialed for a name, and that these are the ones that were checked.
func TestDialContext(t *testing.T) {
	t.Parallel()
	refusedConnection := errors.New("connection refused")
	for _, c := range []struct {
		why      string
		list     []string
		address  string
		resolves []string
		broken   bool
		dialed   []string
		message  string
	}{
		{why: "the address of the listed Service", list: []string{"prometheus:9090"}, address: "http://prometheus:9090",
			resolves: []string{"10.0.0.7"}, dialed: []string{"10.0.0.7:9090"}},
		{why: "a name that resolves to the manager", list: []string{"prometheus:9090"}, address: "http://prometheus:9090",
			resolves: []string{"127.0.0.1"}, message: "loopback"},
		{why: "a name that resolves to the metadata", list: []string{"prometheus"}, address: "http://prometheus",
			resolves: []string{"169.254.169.254"}, message: "link-local"},
		{why: "a name of which one address is that of the manager", list: []string{"prometheus:9090"}, address: "http://prometheus:9090",
			resolves: []string{"127.0.0.1", "::1", "10.0.0.7"}, dialed: []string{"10.0.0.7:9090"}},
		{why: "a name that resolves into a listed network", list: []string{"10.0.0.0/24:9090"}, address: "http://anything:9090",
			resolves: []string{"10.0.0.7"}, dialed: []string{"10.0.0.7:9090"}},
		{why: "a name that resolves to a listed address, which is for that address alone", list: []string{"10.0.0.7:9090"},
			address: "http://anything:9090", resolves: []string{"10.0.0.7"}, message: "not allowed"},
		{why: "a listed name that resolves to a listed address of the machine", list: []string{"prometheus:9090", "127.0.0.1:9090"},
			address: "http://prometheus:9090", resolves: []string{"127.0.0.1"}, dialed: []string{"127.0.0.1:9090"}},
		{why: "a name that resolves out of it", list: []string{"10.0.0.0/24:9090"}, address: "http://anything:9090",
			resolves: []string{"10.0.1.7"}, message: "not allowed"},
		{why: "the next address, when one refuses", list: []string{"prometheus"}, address: "https://prometheus",
			resolves: []string{"10.0.0.7", "10.0.0.8"}, broken: true, dialed: []string{"10.0.0.7:443", "10.0.0.8:443"},
			message: "connection refused"},
		{why: "not all addresses of a name with many", list: []string{"prometheus"}, address: "https://prometheus", broken: true,
			resolves: []string{"10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4", "10.0.0.5"},
			dialed:   []string{"10.0.0.1:443", "10.0.0.2:443", "10.0.0.3:443", "10.0.0.4:443"}, message: "connection refused"},
		{why: "a name without addresses", list: []string{"prometheus"}, address: "https://prometheus", message: "does not resolve"},
		{why: "an IP address, which nothing resolves", list: []string{"10.0.0.7"}, address: "https://10.0.0.7", dialed: []string{"10.0.0.7:443"},
			resolves: []string{"10.0.0.9"}},
		{why: "an IP address that is not listed", list: []string{"10.0.0.7"}, address: "https://10.0.0.8", message: "not allowed"},
	} {
		a, err := New(c.address)
		if err != nil {
			t.Fatal(err)
		}
		var dialed []string
		d := Dialer{List: parsed(t, c.list...),
			Resolve: func(context.Context, string, string) ([]netip.Addr, error) {
				var ips []netip.Addr
				for _, text := range c.resolves {
					ips = append(ips, netip.MustParseAddr(text))
				}
				return ips, nil
			},
			Dial: func(_ context.Context, _, address string) (net.Conn, error) {
				dialed = append(dialed, address)
				if c.broken {
					return nil, refusedConnection
				}
				return nil, nil
			}}
		_, err = d.DialContext(t.Context(), a)
		if !slices.Equal(dialed, c.dialed) {
			t.Errorf("%s: want %v dialed, got %v", c.why, c.dialed, dialed)
		}
		if (err == nil) != (c.message == "") || err != nil && !strings.Contains(err.Error(), c.message) {
			t.Errorf("%s: want an error with %q, got %v", c.why, c.message, err)
		}
		for _, ip := range c.resolves {
			if err != nil && strings.Contains(err.Error(), ip) {
				t.Errorf("%s: want no resolved address in the error, got %v", c.why, err)
			}
		}
	}
}

// TestRebinding holds that a name which resolves to another address the second time is dialed at the first one.
func TestRebinding(t *testing.T) {
	t.Parallel()
	a, err := New("http://prometheus:9090")
	if err != nil {
		t.Fatal(err)
	}
	resolved, dialed := 0, ""
	d := Dialer{List: parsed(t, "prometheus:9090"),
		Resolve: func(context.Context, string, string) ([]netip.Addr, error) {
			resolved++
			return []netip.Addr{netip.MustParseAddr([]string{"10.0.0.7", "127.0.0.1"}[(resolved+1)%2])}, nil
		},
		Dial: func(_ context.Context, _, address string) (net.Conn, error) { dialed = address; return nil, nil }}
	if _, err := d.DialContext(t.Context(), a); err != nil || dialed != "10.0.0.7:9090" || resolved != 1 {
		t.Errorf("want the checked address dialed after one resolution, got %q, %d, %v", dialed, resolved, err)
	}
	if _, err := d.DialContext(t.Context(), a); err == nil {
		t.Error("want the second address refused")
	}
}

// TestSystemResolver holds that localhost is refused by what it resolves to, with the system's own resolver.
func TestSystemResolver(t *testing.T) {
	t.Parallel()
	a, err := New("http://localhost:9090")
	if err != nil {
		t.Fatal(err)
	}
	d := Dialer{List: parsed(t, "localhost:9090"), Dial: func(_ context.Context, _, address string) (net.Conn, error) {
		t.Errorf("%s was dialed", address)
		return nil, nil
	}}
	if _, err := d.DialContext(t.Context(), a); err == nil || !strings.Contains(err.Error(), "loopback") {
		t.Errorf("want localhost refused, got %v", err)
	}
}
