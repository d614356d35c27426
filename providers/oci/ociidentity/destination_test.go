package ociidentity

import (
	"testing"

	"github.com/muster-project/muster/kube/infrapool/identity"
)

// TestDestinations holds where signatures may be sent, with credentials of the namespace's own and with others.
func TestDestinations(t *testing.T) {
	t.Parallel()
	from := identity.NewSources(nil, "").For("team-a")
	for _, c := range []struct {
		address string
		// own and lent tell whether the address is one for credentials of the namespace's own, and for others.
		own, lent bool
	}{
		{"", true, true},
		{"https://iaas.us-phoenix-1.oraclecloud.com", true, true},
		{"https://containerengine.us-phoenix-1.oci.oraclecloud.com/", true, true},
		{"https://iaas.us-phoenix-1.oraclecloud.com:8443", true, false},
		{"https://iaas.us-phoenix-1.oraclecloud.com.example.com", true, false},
		{"https://iaas.us-phoenix-1.customer-oci.com", true, false},
		{"https://api.example.com", true, false},
		{"http://api.example.com", false, false},
		{"https://user:password@iaas.us-phoenix-1.oraclecloud.com", false, false},
		{"https://iaas.us-phoenix-1.oraclecloud.com/path", false, false},
		{"https://127.0.0.1:6443", false, false},
		{"https://localhost", false, false},
		{"https://LocalHost", false, false},
		{"https://localhost.", false, false},
		{"https://a.localhost", false, false},
		{"https://0.0.0.0:8443", false, false},
		{"https://[::]", false, false},
		{"https://[::1]", false, false},
		{"https://[::ffff:127.0.0.1]", false, false},
		{"https://169.254.169.254", false, false},
		{"https://[fe80::1%25eth0]", false, false},
	} {
		for restriction, want := range map[string]bool{"": c.own, lentCredentials: c.lent} {
			err := destination{from: from, restriction: restriction}.allows("spec.clientOverrides.computeClientUrl", c.address)
			if (err == nil) != want {
				t.Errorf("%q with restriction %q: want allowed %t, got %v", c.address, restriction, want, err)
			}
		}
	}
}
