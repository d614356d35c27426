package cloud

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// spelled returns a spelling with something between domain and name.
func spelled(between string) Spelling {
	return Spelling{Key: func(name string) string { return TagDomain + between + name }}
}

// TestOwnerTags holds the names of the tags by which everything in the clouds is known.
func TestOwnerTags(t *testing.T) {
	t.Parallel()
	o := Owner{ID: "id", Cluster: "c", Namespace: "ns", Name: "p"}
	for between, want := range map[string]map[string]string{
		"/": {"muster.dev/owner": "id", "muster.dev/cluster": "c", "muster.dev/namespace": "ns", "muster.dev/pool": "p"},
		"_": {"muster.dev_owner": "id", "muster.dev_cluster": "c", "muster.dev_namespace": "ns", "muster.dev_pool": "p"},
	} {
		if diff := cmp.Diff(want, spelled(between).Tags(o)); diff != "" {
			t.Errorf("tags with %q (-want +got):\n%s", between, diff)
		}
	}
}

// TestClaim holds that an owner ID alone proves nothing: everyone who can write an object can claim it.
func TestClaim(t *testing.T) {
	t.Parallel()
	owner := Owner{ID: "id", Cluster: "prod", Namespace: "team-a", Name: "workers"}
	for name, tc := range map[string]struct {
		why     string
		owner   func(*Owner)
		tags    func(map[string]string)
		value   func(string) string
		owned   bool
		named   string
		differs string
		fact    string
		back    string
		former  string
	}{
		"all agree": {why: "the pool's own", owned: true, named: "prod/team-a/workers"},
		"another namespace": {
			why: "a tenant that claims the ID of another's group", owner: func(o *Owner) { o.Namespace = "team-b" },
			named: "prod/team-a/workers", differs: `muster.dev/namespace is "team-a" and not "team-b"`, fact: "has this pool's owner ID",
		},
		"another name": {
			why: "one group, two pools of a namespace", owner: func(o *Owner) { o.Name = "others" },
			named: "prod/team-a/workers", differs: `muster.dev/pool is "workers" and not "others"`, fact: "has this pool's owner ID",
		},
		"another cluster": {
			why: "a cluster of the same namespace", owner: func(o *Owner) { o.Cluster = "test" },
			named: "prod/team-a/workers", differs: `muster.dev/cluster is "prod" and not "test"`, fact: "has this pool's owner ID",
		},
		"applied again": {
			why: "the object of the group was applied again without its ID", owner: func(o *Owner) { o.ID, o.Kind = "other", "awsmachinepool" },
			fact: `its tag muster.dev/owner is "id"`,
			back: "kubectl annotate --overwrite --namespace team-a awsmachinepool workers muster.dev/owner-id=id",
		},
		"another ID": {why: "a group of another owner", owner: func(o *Owner) { o.ID, o.Namespace = "other", "team-b" }, fact: `its tag muster.dev/owner is "id"`},
		"no owner tag": {why: "a group of another tool", tags: func(m map[string]string) { delete(m, "muster.dev/owner") },
			fact: "its tag muster.dev/owner is missing"},
		"no owner tag, and another's name": {why: "a group that another pool gave back", owner: func(o *Owner) { o.Namespace = "team-b" },
			tags: func(m map[string]string) { delete(m, "muster.dev/owner") }, fact: "its tag muster.dev/owner is missing",
			former: `muster.dev/namespace is "team-a" and not "team-b"`},
		"a tag removed by hand": {
			why:   "what is missing names no other object, and is written again",
			tags:  func(m map[string]string) { delete(m, "muster.dev/namespace") },
			owned: true, named: "prod//workers",
		},
		"a cluster that is not known any more": {
			why: "the MachinePool is gone, and the object is being deleted", owner: func(o *Owner) { o.Cluster = "" }, owned: true,
			named: "prod/team-a/workers",
		},
		"sanitised values": {
			why: "values are compared as they are written", owner: func(o *Owner) { o.Name = "Workers" }, value: strings.ToLower, owned: true,
			named: "prod/team-a/Workers",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spelling, o := spelled("/"), owner
			spelling.Value = tc.value
			tags := spelling.Tags(owner)
			if tc.owner != nil {
				tc.owner(&o)
			}
			if tc.tags != nil {
				tc.tags(tags)
			}
			got := spelling.Claim(o, func(key string) string { return tags[key] })
			if got.TakeBack != tc.back || got.FormerOwner != tc.former {
				t.Errorf("%s: want the command %q and the former owner %q, got %q and %q", tc.why, tc.back, tc.former, got.TakeBack, got.FormerOwner)
			}
			if got.Owned != tc.owned || got.Named() != tc.named || got.Differs != tc.differs || !tc.owned && !strings.Contains(got.Fact(), tc.fact) {
				t.Errorf("%s: want owned %t, named %q, differs %q, got %+v (%s)", tc.why, tc.owned, tc.named, tc.differs, got, got.Fact())
			}
		})
	}
}

// TestAnnotate holds that a command to copy runs nothing that stands in a tag.
func TestAnnotate(t *testing.T) {
	t.Parallel()
	o := Owner{Namespace: "ns", Kind: "awsmachinepool", Name: "p"}
	for value, want := range map[string]string{
		"k=0b5c-1": " k=0b5c-1", "k=$(curl x|sh)": " 'k=$(curl x|sh)'", "k=a; b": " 'k=a; b'", "k=it's": ` 'k=it'\''s'`, "k-": " k-",
		"k=a\nb": " 'k=a\nb'",
	} {
		if got := o.Annotate(value); got != "kubectl annotate --overwrite --namespace ns awsmachinepool p"+want {
			t.Errorf("%q: want it to end with%s, got %s", value, want, got)
		}
	}
}
