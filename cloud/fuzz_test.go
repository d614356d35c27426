package cloud_test

import (
	"strings"
	"testing"
	"unicode"

	"github.com/muster-project/muster/cloud"
)

// providerIDs are of the forms that the clouds' own controllers write.
var providerIDs = []string{
	"aws:///eu-west-1a/i-0123456789abcdef0",
	"aws:////i-0123456789abcdef0",
	"azure:///subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/RG/providers/Microsoft.Compute/virtualMachineScaleSets/" +
		"capz-mp-0/virtualMachines/0",
	"gce://my-project/europe-west1-b/capg-mp-0-x1y2",
	"oci://ocid1.instance.oc1.eu-frankfurt-1.antheljr",
	"ocid1.instance.oc1.eu-frankfurt-1.antheljr",
	"scaleway://instance/fr-par-1/11111111-2222-3333-4444-555555555555",
	"kind://docker/c/c-worker",
}

// FuzzProviderKey holds that a key is its own key, is spelled in one way only, and does not depend on blanks, slashes and the
// scheme's case.
func FuzzProviderKey(f *testing.F) {
	for _, id := range append(providerIDs, "aws:///z/", "azure:///A/b", "://", "x", " AWS://i ", "gce://p/z/i /", "gce://p/\u00a0/") {
		f.Add(id)
	}
	f.Fuzz(func(t *testing.T, id string) {
		key := cloud.ProviderKey(id)
		if key == "" {
			return
		}
		if again := cloud.ProviderKey(key); again != key {
			t.Errorf("want the key of a key to be itself, got %q, then %q", key, again)
		}
		scheme, rest, _ := strings.Cut(key, "://")
		if scheme == "" || rest == "" || strings.HasPrefix(rest, "/") || strings.HasSuffix(rest, "/") || strings.Contains(rest, "//") {
			t.Errorf("want a scheme and an instance, got %q for %q", key, id)
		}
		prefix, tail, found := strings.Cut(id, "://")
		if !found {
			if same := cloud.ProviderKey("oci://" + strings.TrimSpace(id)); same != key {
				t.Errorf("want an ID without a scheme to be one of OCI's with it, got %q and %q", key, same)
			}
			return
		}
		if upper := strings.ToUpper(prefix); cloud.ProviderKey(upper+"://x") == cloud.ProviderKey(prefix+"://x") {
			if same := cloud.ProviderKey("\n" + upper + ":///" + tail + "\t"); same != key {
				t.Errorf("want one meaning whatever the slashes, the blanks and the scheme's case, got %q and %q", key, same)
			}
		}
	})
}

// instance is one instance by the parts of its ID.
type instance struct{ scheme, place, name string }

// id spells the instance's provider ID, in another way for every spelling.
func (i instance) id(spelling uint8) string {
	slash := func(bit uint8) string { return strings.Repeat("/", int(spelling>>bit&1)) }
	scheme := i.scheme
	if spelling&8 != 0 {
		scheme = strings.ToUpper(scheme)
	}
	id := scheme + "://" + slash(0) + i.place + "/" + slash(1) + i.name
	if spelling&4 != 0 {
		id = "\n" + id + "  "
	}
	return id
}

// same says, from the clouds' own rules, whether two descriptions mean one instance.
func (i instance) same(o instance) bool {
	switch {
	case i.scheme != o.scheme:
		return false
	case i.scheme == "aws":
		return i.name == o.name
	case i.scheme == "azure":
		return strings.EqualFold(i.place, o.place) && strings.EqualFold(i.name, o.name)
	default:
		return i.place == o.place && i.name == o.name
	}
}

// sound reports whether a text may be one part of an ID: no cloud's names hold slashes, blanks or letters beyond ASCII.
func sound(part string) bool {
	return part != "" && !strings.ContainsFunc(part, func(r rune) bool {
		return r == '/' || r == ':' || r > unicode.MaxASCII || unicode.IsSpace(r) || unicode.IsControl(r)
	})
}

// FuzzSameInstance holds that two IDs have one key exactly when they mean one instance of one cloud.
func FuzzSameInstance(f *testing.F) {
	f.Add(uint8(0), uint8(0), "eu-west-1a", "eu-west-1b", "i-0abc", "i-0abc", uint8(0), uint8(15))
	f.Add(uint8(1), uint8(1), "resourceGroups", "resourcegroups", "mp-0", "MP-0", uint8(1), uint8(2))
	f.Add(uint8(2), uint8(2), "europe-west1-b", "europe-west1-c", "mp-x1y2", "mp-x1y2", uint8(4), uint8(8))
	f.Add(uint8(3), uint8(3), "oc1", "oc1", "AbC", "abc", uint8(0), uint8(1))
	f.Add(uint8(4), uint8(0), "fr-par-1", "fr-par-1", "11111111-2222", "11111111-2222", uint8(0), uint8(0))
	schemes := []string{"aws", "azure", "gce", "oci", "scaleway"}
	f.Fuzz(func(t *testing.T, schemeA, schemeB uint8, placeA, placeB, nameA, nameB string, spellingA, spellingB uint8) {
		if !sound(placeA) || !sound(placeB) || !sound(nameA) || !sound(nameB) {
			return
		}
		a := instance{schemes[int(schemeA)%len(schemes)], placeA, nameA}
		b := instance{schemes[int(schemeB)%len(schemes)], placeB, nameB}
		idA, idB := a.id(spellingA), b.id(spellingB)
		keyA, keyB := cloud.ProviderKey(idA), cloud.ProviderKey(idB)
		if keyA == "" || keyB == "" {
			t.Fatalf("want keys for %q and %q, got %q and %q", idA, idB, keyA, keyB)
		}
		if (keyA == keyB) != a.same(b) {
			t.Errorf("%q and %q: want one key: %t, got %q and %q", idA, idB, a.same(b), keyA, keyB)
		}
	})
}
