package nodegroup

import (
	"regexp"
	"testing"

	"github.com/muster-project/muster/cloud"
)

// eksName is what EKS takes for the name of a node group.
var eksName = regexp.MustCompile(`^[0-9A-Za-z][A-Za-z0-9_-]{0,62}$`)

// Names are derived from whatever Kubernetes lets objects be called, and are always such as EKS takes.
func FuzzNames(f *testing.F) {
	for _, name := range []string{"pool", "a.b.c", "a-very-long-name-of-a-pool-that-does-not-fit-into-the-name-of-a-node-group"} {
		f.Add(name, "owner")
	}
	kubernetes := regexp.MustCompile(`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`)
	f.Fuzz(func(t *testing.T, name, owner string) {
		if !kubernetes.MatchString(name) || len(name) > 253 {
			return
		}
		got := shortName(cloud.Owner{ID: owner, Name: name})
		if !eksName.MatchString(got) {
			t.Errorf("want a name that EKS takes for %q, got %q", name, got)
		}
		if other := shortName(cloud.Owner{ID: owner + "x", Name: name}); other == got {
			t.Errorf("want another name for another owner of %q, got %q twice", name, got)
		}
	})
}

// Refs of EKS's own versions are read as they are written, whatever stands in them.
func FuzzGivenRefs(f *testing.F) {
	for _, ref := range []string{"eks:1.31", "eks:1.31/1.31.2-20250103", "eks:default", "eks:", "eks:1.", "lt-0123:4", "eks:1.31/"} {
		f.Add(ref)
	}
	f.Fuzz(func(t *testing.T, ref string) {
		got, err := parseGiven(ref)
		if err != nil {
			return
		}
		again, err := parseGiven(givenRef(got.minor, got.release))
		if err != nil || again != got {
			t.Errorf("want %+v of %q read again, got %+v, %v", got, ref, again, err)
		}
	})
}
