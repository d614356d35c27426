package install

import (
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery/fake"
	clienttesting "k8s.io/client-go/testing"
)

// TestServedVersions: a version of a kind that is not served must not be waited for, and one that is served must not be left out.
func TestServedVersions(t *testing.T) {
	all, err := definitions(others())
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range all {
		if err := convert(d, nil); err != nil {
			t.Fatal(err)
		}
	}
	got, err := servedVersions(all)
	if err != nil {
		t.Fatal(err)
	}
	for version, want := range map[string]bool{"cluster.x-k8s.io/v1beta1": false, "cluster.x-k8s.io/v1beta2": true} {
		if slices.Contains(got[version], "machinepools") != want {
			t.Errorf("machinepools in %s: want served %v, got %v", version, want, got[version])
		}
	}
}

// TestNotServed: what discovery does not list yet is waited for, be it one kind of a version or the whole version.
func TestNotServed(t *testing.T) {
	client := &fake.FakeDiscovery{Fake: &clienttesting.Fake{Resources: []*metav1.APIResourceList{
		{GroupVersion: "a/v1", APIResources: []metav1.APIResource{{Name: "ones"}, {Name: "ones/status"}}},
	}}}
	for _, tc := range []struct {
		reason, version string
		want            []string
	}{
		{reason: "one of two kinds", version: "a/v1", want: []string{"others"}},
		{reason: "no kind of the version", version: "a/v2", want: []string{"ones", "others"}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			got, err := notServed(client, tc.version, []string{"ones", "others"})
			if err != nil || !slices.Equal(got, tc.want) {
				t.Errorf("want %v, got %v, %v", tc.want, got, err)
			}
		})
	}
}
