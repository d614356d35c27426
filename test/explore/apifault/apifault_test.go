package apifault

import (
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/test/memapi"
)

// TestFaults holds which requests meet which fault, and what becomes of them.
func TestFaults(t *testing.T) {
	t.Parallel()
	op := func(verb, kind, sub, name string) memapi.Op {
		return memapi.Op{Verb: verb, Kind: kind, Subresource: sub, Key: client.ObjectKey{Name: name}, Write: verb != "get" && verb != "list"}
	}
	for _, c := range []struct {
		reason string
		fault  Fault
		ops    []memapi.Op
		want   string
	}{
		{"the next writes but one", Fault{Kind: Refused, Skip: 1, Times: 1},
			[]memapi.Op{op("get", "Node", "", "a"), op("update", "Node", "", "a"), op("update", "Node", "", "a"), op("update", "Node", "", "a")},
			"done done refused done"},
		{"what was done and is not known", Fault{Kind: Lost, Times: 1}, []memapi.Op{op("patch", "Node", "", "a")}, "done and refused"},
		{"a right that is lost", Fault{Kind: Denied, On: "Node", Verb: "list"},
			[]memapi.Op{op("list", "Node", "", ""), op("get", "Node", "", "a"), op("list", "Pod", "", ""), op("list", "Node", "", "")},
			"refused done done refused"},
		{"a status that is not allowed", Fault{Kind: Invalid, On: "Pool"},
			[]memapi.Op{op("patch", "Pool", "status", "a"), op("patch", "Pool", "", "a"), op("patch", "Node", "status", "a")}, "refused done done"},
		{"a field that is not known", Fault{Kind: Pruned, On: "Pool", Field: "ready"},
			[]memapi.Op{op("patch", "Pool", "status", "a"), op("patch", "Pool", "", "a")}, "done without ready done"},
		{"the first write to each object", Fault{Kind: EachConflict},
			[]memapi.Op{op("patch", "Pool", "", "a"), op("patch", "Pool", "", "b"), op("patch", "Pool", "", "a"), op("create", "Pool", "", "c")},
			"refused refused done done"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			t.Parallel()
			var got []string
			f := Faults{Prune: func(_ memapi.Op, field string) { got = append(got, "without", field) }}
			f.Add(c.fault)
			for _, op := range c.ops {
				did := false
				err := f.Meet(false, op, func() error {
					did = true
					got = append(got, "done")
					return nil
				})
				if err != nil && did {
					got = append(got, "and")
				}
				if err != nil {
					got = append(got, "refused")
				}
			}
			if text := strings.Join(got, " "); text != c.want {
				t.Errorf("want %q, got %q", c.want, text)
			}
		})
	}
}
