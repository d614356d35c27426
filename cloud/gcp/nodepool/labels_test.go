package nodepool

import (
	"regexp"
	"strings"
	"testing"

	"github.com/muster-project/muster/cloud"
)

// TestLabelValue holds that a value fits, that one which does is kept, and that two texts have two values.
func TestLabelValue(t *testing.T) {
	t.Parallel()
	fits, seen := regexp.MustCompile(`^[a-z0-9_-]{0,63}$`), map[string]string{}
	for _, text := range []string{
		"", "default", "0f6f8d5e-1b1f-4c1e-9d5e-0f6f8d5e1b1f", "My.Cluster", "my-cluster", "my.cluster", strings.Repeat("a", 63), strings.Repeat("a", 64),
		strings.Repeat("a", 65), "ünï",
	} {
		value := labelValue(text)
		if !fits.MatchString(value) {
			t.Errorf("the value of %q does not fit: %q", text, value)
		}
		if fits.MatchString(text) && value != text {
			t.Errorf("want %q kept, got %q", text, value)
		}
		if other, ok := seen[value]; ok {
			t.Errorf("%q and %q have one value: %q", text, other, value)
		}
		seen[value] = text
	}
}

func TestTaggedFor(t *testing.T) {
	t.Parallel()
	own := cloud.Owner{ID: "id", Cluster: "c.example", Namespace: "default", Name: strings.Repeat("n", 70)}
	if got := taggedFor(ownerLabels(own), own); got != own.Key() {
		t.Errorf("want %s, got %s", own.Key(), got)
	}
	other := cloud.Owner{ID: "id", Cluster: "other", Namespace: "default", Name: "pool"}
	if got := taggedFor(ownerLabels(other), own); got != other.Key() {
		t.Errorf("want %s, got %s", other.Key(), got)
	}
}

func TestOtherCluster(t *testing.T) {
	t.Parallel()
	own := cloud.Owner{Cluster: "c"}
	for _, c := range []struct {
		reason string
		labels map[string]string
		want   string
	}{
		{"no labels", nil, ""},
		{"the pool's cluster", map[string]string{"capg-cluster-c": "owned"}, ""},
		{"another cluster", map[string]string{"capg-cluster-d": "owned"}, "d"},
		{"a cluster that shares", map[string]string{"capg-cluster-d": "shared"}, ""},
	} {
		if got := otherCluster(c.labels, own); got != c.want {
			t.Errorf("%s: want %q, got %q", c.reason, c.want, got)
		}
	}
}

func TestSplitGroupID(t *testing.T) {
	t.Parallel()
	const path = "projects/p/locations/us-central1/clusters/c/nodePools/n"
	if got, want := splitGroupID(groupID(path)), (where{project: "p", location: "us-central1", cluster: "c", pool: "n"}); got != want {
		t.Errorf("want %v, got %v", want, got)
	}
	for _, id := range []string{"", path, "gce://p/us-central1-a/m", "gce://projects/p/locations/us-central1/clusters/c/nodePools/", "gce://" + path + "/x"} {
		if got := splitGroupID(id); got != (where{}) {
			t.Errorf("want nothing for %q, got %v", id, got)
		}
	}
}

func TestBuiltFor(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"gke-1305-gke1014001-cos-113-17681-1153-62-c-pre": "1.30.5-gke.1014001", "gke-13410-gke5-ubuntu-2204-1-0-v20250101": "1.34.10-gke.5",
		"cos-stable-113": "", "": "",
	} {
		if got := builtFor(name).String(); got != want {
			t.Errorf("%q: want %q, got %q", name, want, got)
		}
	}
}
