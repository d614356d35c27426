package nodepool

import "testing"

func TestSplitGroupID(t *testing.T) {
	t.Parallel()
	const path = "projects/p/locations/us-central1/clusters/c/nodePools/n"
	if got, want := splitGroupID(path), (where{project: "p", location: "us-central1", cluster: "c", pool: "n"}); got != want {
		t.Errorf("want %v, got %v", want, got)
	}
	for _, id := range []string{"", "gce://p/us-central1-a/m", "projects/p/locations/us-central1/clusters/c/nodePools/", path + "/x",
		"/" + path} {
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
