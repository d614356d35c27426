package upgrade

import "testing"

func TestParse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ why, text, want string }{
		{"as a MachinePool writes it", "v1.34.1", "1.34.1"},
		{"a minor version", "1.34", "1.34"},
		{"a build", "v1.34.1-gke.1829001", "1.34.1-gke.1829001"},
		{"nothing", "", ""},
		{"an alias that moves", "latest", ""},
		{"no minor version", "v1", ""},
		{"minor version 0", "v1.0.1", ""},
		{"another major version", "v2.1.0", ""},
		{"a patch that is no number", "v1.34.x", ""},
		{"a sign", "v1.+34", ""},
		{"too many parts", "1.34.1.2", ""},
		{"a build without a patch", "1.34-gke.1", ""},
		{"a build without a number", "1.34.1-gke", ""},
		{"a build of no name", "1.34.1-.7", ""},
	} {
		got, ok := Parse(c.text)
		if got.String() != c.want || ok != (c.want != "") || ok != got.Known() {
			t.Errorf("%s: want %q from %q, got %q (%t)", c.why, c.want, c.text, got, ok)
		}
	}
}

// TestOf holds the way from one version to another: one minor version at a time, none above the control plane, none back.
func TestOf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		why, current, wanted, controlPlane, next string
		waits                                    bool
	}{
		{"no version is asked for", "1.33.4-gke.1", "", "1.34.1-gke.5", "1.33.4-gke.1", false},
		{"a pool that does not exist yet", "", "v1.33.4", "1.34.1", "1.33.4", false},
		{"the version that it has", "1.33.4", "v1.33.4", "1.34.1", "1.33.4", false},
		{"any patch of the minor version that it has", "1.33.4", "v1.33", "1.34.1", "1.33.4", false},
		{"any build of the patch that it has", "1.33.4-gke.1", "v1.33.4", "1.34.1-gke.5", "1.33.4-gke.1", false},
		{"another build", "1.33.4-gke.1", "1.33.4-gke.2", "1.34.1-gke.5", "1.33.4-gke.2", false},
		{"another patch", "1.33.4", "v1.33.5", "1.34.1", "1.33.5", false},
		{"the next minor version", "1.33.4", "v1.34.1", "1.34.1", "1.34.1", false},
		{"two minor versions: one at a time", "1.32.4", "v1.34.1", "1.34.1", "1.33", false},
		{"two with a control plane between: no patch above it", "1.32.4", "v1.34.1", "1.33.1", "1.33.1", false},
		{"the control plane goes first", "1.33.4", "v1.34.1", "1.33.9", "1.33.4", true},
		{"the control plane is a patch behind", "1.33.4", "v1.34.4", "1.34.1", "1.33.4", true},
		{"the control plane is a build behind", "1.33.4-gke.1", "1.33.4-gke.9", "1.33.4-gke.5", "1.33.4-gke.1", true},
		{"a control plane that is not known: the cloud compares", "1.33.4", "v1.34.1", "", "1.34.1", false},
		{"an automatic upgrade was faster", "1.34.1", "v1.33.4", "1.34.1", "1.34.1", false},
		{"an automatic upgrade took a newer patch", "1.33.5", "v1.33.2", "1.33.5", "1.33.5", false},
		{"an automatic upgrade took a newer build", "1.33.4-gke.7", "1.33.4-gke.5", "1.34.1-gke.5", "1.33.4-gke.7", false},
	} {
		current, _ := Parse(c.current)
		wanted, _ := Parse(c.wanted)
		controlPlane, _ := Parse(c.controlPlane)
		if got := Of(current, wanted, controlPlane); got.Next.String() != c.next || got.Path.WaitsForControlPlane != c.waits {
			t.Errorf("%s: want %s (waits: %t), got %s (%+v)", c.why, c.next, c.waits, got.Next, got.Path)
		}
	}
}
func TestPath(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		why                           string
		current, wanted, controlPlane int
		next                          int
		waits, downgrade              bool
		words                         string
	}{
		{"no version is asked for", 30, 0, 31, 30, false, false, ""},
		{"no group exists", 0, 31, 31, 0, false, false, ""},
		{"the group runs the wanted version", 30, 30, 31, 30, false, false, ""},
		{"one minor version is one step", 30, 31, 31, 31, false, false, "Kubernetes 1.30 to 1.31"},
		{"two are two steps", 29, 31, 31, 30, false, false, "Kubernetes 1.29 to 1.30, on the way to 1.31"},
		{"the control plane goes first", 30, 32, 30, 30, true, false, "Kubernetes 1.30 of the wanted 1.32, which waits for the control plane"},
		{"steps up to the control plane are taken", 29, 32, 30, 30, false, false, "Kubernetes 1.29 to 1.30, on the way to 1.32"},
		{"an unknown control plane blocks no step", 29, 31, 0, 30, false, false, "Kubernetes 1.29 to 1.30, on the way to 1.31"},
		{"no group goes back", 30, 29, 31, 30, false, true, ""},
	} {
		got := PathOf(c.current, c.wanted, c.controlPlane)
		want := Path{Current: c.current, Wanted: c.wanted, Next: c.next, WaitsForControlPlane: c.waits, Downgrade: c.downgrade}
		if got != want || got.String() != c.words {
			t.Errorf("%s: want %#v and the words %q, got %#v and %q", c.why, want, c.words, got, got)
		}
	}
}

func TestMayDiffer(t *testing.T) {
	for _, c := range []struct {
		why, wanted, have string
		want              bool
	}{
		{"the same", "v1.34.1", "v1.34.1", false},
		{"another patch", "v1.34.1", "v1.34.2", true},
		{"a minor version alone", "1.34", "v1.34.2", false},
		{"another minor version", "1.34", "v1.33.2", true},
		{"a vendor's suffix", "v1.34.1", "v1.34.1-eks-1552ad0", false},
		{"a distribution's suffix", "v1.34.1", "v1.34.1+k3s1", false},
		{"the suffix that is wanted", "v1.34.1-gke.1829001", "v1.34.1-gke.1829001", false},
		{"another build", "v1.34.1-gke.1829001", "v1.34.1-gke.1829002", true},
		{"none is wanted", "", "v1.34.1", true},
		{"none is known", "v1.34.1", "", true},
		{"no version", "latest", "latest", true},
	} {
		if got := MayDiffer(c.wanted, c.have); got != c.want {
			t.Errorf("%s: want %t, got %t", c.why, c.want, got)
		}
	}
}
