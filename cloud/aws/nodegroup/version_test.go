package nodegroup

import (
	"strings"
	"testing"
)

func TestStep(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		why   string
		asked versionRequest
		is    int
		next  runs
		words string
		err   string
	}{
		{"a new group has the version that is asked for", versionRequest{minor: 31, controlPlane: 31}, 0, runs{minor: 31}, "", ""},
		{"a new group has the release that is asked for from the beginning", versionRequest{minor: 31, release: "1.31.2-20250103",
			controlPlane: 31}, 0, runs{31, "1.31.2-20250103"}, "", ""},
		{"a new group of an unknown control plane is left to EKS", versionRequest{minor: 31}, 0, runs{minor: 31}, "", ""},
		{"a new group waits for the control plane's upgrade", versionRequest{minor: 32, controlPlane: 31}, 0, runs{}, "",
			"before the control plane"},
		{"EKS makes no group behind the control plane", versionRequest{minor: 30, controlPlane: 31}, 0, runs{}, "", "1.31 alone"},
		{"nothing is asked for, nothing is compared", versionRequest{}, 30, runs{}, "", ""},
		{"a release alone is compared alone", versionRequest{release: "1.30.1-20250101"}, 30, runs{release: "1.30.1-20250101"}, "", ""},
		{"what runs is what is wanted", versionRequest{minor: 30, controlPlane: 31}, 30, runs{minor: 30}, "", ""},
		{"one minor version is one step", versionRequest{minor: 31, controlPlane: 31}, 30, runs{minor: 31}, "Kubernetes 1.30 to 1.31", ""},
		{"two are two, and the goal is told", versionRequest{minor: 31, controlPlane: 31}, 29, runs{minor: 30},
			"Kubernetes 1.29 to 1.30, on the way to 1.31", ""},
		{"the release belongs to the goal alone", versionRequest{minor: 31, release: "1.31.2-20250103", controlPlane: 31}, 29, runs{minor: 30},
			"Kubernetes 1.29 to 1.30, on the way to 1.31", ""},
		{"no step goes past the control plane", versionRequest{minor: 32, controlPlane: 30}, 30, runs{minor: 30},
			"Kubernetes 1.30 of the wanted 1.32, which waits for the control plane", ""},
		{"EKS takes nothing back", versionRequest{minor: 29, controlPlane: 31}, 30, runs{}, "", "back to 1.29"},
		{"an image of the template's own has its version in itself", versionRequest{minor: 29, release: "x", image: true, controlPlane: 31}, 30,
			runs{}, "", ""},
	} {
		got, err := stepOf(c.asked, c.is)
		if (err != nil) != (c.err != "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: want an error with %q, got %v", c.why, c.err, err)
		}
		if err == nil && (got.next != c.next || got.path.String() != c.words) {
			t.Errorf("%s: want %+v and the words %q, got %+v and %q", c.why, c.next, c.words, got.next, got.path.String())
		}
	}
}

func TestMinor(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		why, version string
		minor        int
		bad          bool
	}{
		{"as objects have it", "v1.31.2", 31, false},
		{"as EKS has it", "1.31", 31, false},
		{"as distributions have it", "v1.31.2-eks-1234", 31, false},
		{"nothing is said", "", 0, false},
		{"no version", "latest", 0, true},
		{"no minor version", "v1", 0, true},
		{"no Kubernetes 1", "v2.1.0", 0, true},
		{"below all versions", "v1.0.0", 0, true},
	} {
		got, err := minorOf(fieldVersion, c.version)
		if got != c.minor || (err != nil) != c.bad {
			t.Errorf("%s, %q: want %d (an error: %t), got %d, %v", c.why, c.version, c.minor, c.bad, got, err)
		}
	}
}

// TestComposedContents holds the algorithm: what is stale in the clouds is told by it.
func TestComposedContents(t *testing.T) {
	t.Parallel()
	const template = "v1:0123456789abcdef"
	for _, c := range []struct {
		why      string
		template string
		given    bool
		runs     runs
		want     string
	}{
		{"EKS has no part in it", template, false, runs{}, template},
		{"a template of unknown content", "", false, runs{minor: 31}, ""},
		{"EKS's version beside a template", template, false, runs{minor: 31}, "v1:18daf9a83651a6c7"},
		{"EKS's release beside a template", template, false, runs{31, "1.31.2-20250103"}, "v1:427f62c8d1c981bf"},
		{"EKS's version alone", "", true, runs{minor: 31}, "v1:2d0339fb83a85e04"},
		{"EKS's own choice", "", true, runs{}, "v1:a19190fd34e68670"},
	} {
		got := compose(c.template, c.given, c.runs)
		if got != c.want {
			t.Errorf("%s: want %q, got %q", c.why, c.want, got)
		}
	}
}

func TestGivenRefs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		ref  string
		runs runs
		bad  bool
	}{
		{"eks:1.31", runs{minor: 31}, false},
		{"eks:1.31/1.31.2-20250103", runs{31, "1.31.2-20250103"}, false},
		{"eks:default", runs{}, false},
		{"eks:nonsense", runs{}, true},
		{"lt-0123:4", runs{}, true},
	} {
		got, err := parseGiven(c.ref)
		if (err != nil) != c.bad || !c.bad && got != c.runs {
			t.Errorf("%s: want %+v (an error: %t), got %+v, %v", c.ref, c.runs, c.bad, got, err)
		}
		if !c.bad && givenRef(got.minor, got.release) != c.ref {
			t.Errorf("want %s written as it was read, got %s", c.ref, givenRef(got.minor, got.release))
		}
	}
}

func TestWhatIsNotAskedForIsLeftOut(t *testing.T) {
	t.Parallel()
	is := runs{31, "1.31.2-20250103"}
	for _, c := range []struct {
		why        string
		next, want runs
	}{
		{"neither", runs{}, runs{}},
		{"the version", runs{minor: 32}, runs{minor: 31}},
		{"the release", runs{release: "x"}, runs{release: "1.31.2-20250103"}},
		{"both", runs{32, "x"}, is},
	} {
		if got := is.of(c.next); got != c.want {
			t.Errorf("%s is asked for: want %+v, got %+v", c.why, c.want, got)
		}
	}
}
