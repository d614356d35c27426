package rollout

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/muster-project/muster/api/common"
	"github.com/muster-project/muster/kube/infrapool/revision"
	"github.com/muster-project/muster/view"
)

// created is when the revisions of tests were made, with an hour between two.
var created = time.Date(2026, 11, 30, 8, 0, 0, 0, time.UTC)

// revisionOf returns a revision with a launch template.
func revisionOf(number int64, template, version string) revision.Revision {
	var spec map[string]any
	if err := utiljson.Unmarshal([]byte(`{"launch": `+template+`, "mixed": null}`), &spec); err != nil {
		panic(err)
	}
	return revision.Revision{RevisionStatus: common.RevisionStatus{Number: number}, Created: metav1.NewTime(created.Add(time.Duration(number) *
		time.Hour)), Template: revision.Template{Spec: spec, MachinePool: revision.MachinePool{Version: version}}}
}

// revised returns a pool with a launch template that has a field of its own, and the revisions of two former ones, the newest first.
func revised() (Pool, []revision.Revision) {
	p := poolOf(nil, func(p *Pool) {
		p.Infra.Object["spec"].(fields)["launch"] = fields{"ami": "ami-3", "type": "m5", "extra": fields{"a": int64(1)}}
		p.MachinePool.Spec.Template.Spec.Version = "v1.34.1"
	})
	return p, []revision.Revision{revisionOf(2, `{"ami":"ami-2","type":"m5"}`, "v1.34.1"),
		revisionOf(1, `{"ami":"ami-1","type":"m5"}`, "v1.33.0")}
}

func TestHistory(t *testing.T) {
	t.Parallel()
	p, list := revised()
	p.Infra.Object["spec"].(fields)["launch"] = fields{"type": "m5", "ami": "ami-2"}
	h, err := HistoryOf(p, list)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := HistoryText(&out, h, created.Add(4*time.Hour), view.Terminal{}); err != nil {
		t.Fatal(err)
	}
	const want = `REVISION    AGE   VERSION  CHANGE
2 (in use)  120m  v1.34.1  spec.launch.ami: ami-1 -> ami-2
                           MachinePool spec.template.spec.version: v1.33.0 -> v1.34.1
1           3h    v1.33.0  -
`
	if out.String() != want {
		t.Errorf("want\n%s\ngot\n%s", want, &out)
	}
	out.Reset()
	if err := HistoryText(&out, History{}, created, view.Terminal{}); err != nil || out.String() != "No rollout of the pool has ended yet.\n" {
		t.Errorf("want that there is none, got %q, %v", &out, err)
	}
}

// TestUndo holds that the changes give the objects exactly the former template, without the fields that it did not have.
func TestUndo(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		why    string
		number int64
		want   []string
		launch string
	}{
		{"the newest that is another one", 0, []string{`patch awsmachinepool/infra --namespace team --type=merge --patch ` +
			`{"spec":{"launch":{"ami":"ami-2","extra":null}}}`}, "ami-2"},
		{"one of another version", 1, []string{`patch awsmachinepool/infra --namespace team --type=merge --patch ` +
			`{"spec":{"launch":{"ami":"ami-1","extra":null}}}`, `patch machinepool/workers --namespace team --type=merge --patch ` +
			`{"spec":{"template":{"spec":{"version":"v1.33.0"}}}}`}, "ami-1"},
	} {
		p, list := revised()
		edits, err := p.Undo(list, c.number)
		if err != nil || len(edits) != len(c.want) {
			t.Fatalf("%s: want %d changes, got %v, %v", c.why, len(c.want), edits, err)
		}
		scheme := runtime.NewScheme()
		if err := clusterv1.AddToScheme(scheme); err != nil {
			t.Fatal(err)
		}
		fakes := fake.NewClientBuilder().WithScheme(scheme).WithObjects(p.MachinePool, p.Infra).Build()
		for k, e := range edits {
			if got := strings.Join(e.Kubectl, " "); got != c.want[k] {
				t.Errorf("%s: want %s, got %s", c.why, c.want[k], got)
			}
			if err := fakes.Patch(t.Context(), e.Object, e.Patch()); err != nil {
				t.Fatal(err)
			}
		}
		after := Pool{MachinePool: &clusterv1.MachinePool{}, Infra: &unstructured.Unstructured{}}
		after.Infra.SetGroupVersionKind(p.Infra.GroupVersionKind())
		for _, o := range []struct{ from, to client.Object }{{p.MachinePool, after.MachinePool}, {p.Infra, after.Infra}} {
			if err := fakes.Get(t.Context(), client.ObjectKeyFromObject(o.from), o.to); err != nil {
				t.Fatal(err)
			}
		}
		launch, _, _ := unstructured.NestedMap(after.Infra.Object, "spec", "launch")
		if len(launch) != 2 || launch["ami"] != c.launch {
			t.Errorf("%s: want the former template, got %v", c.why, launch)
		}
		if _, err := after.Undo(list, list[len(list)-1].Number); c.number == 1 && (err == nil || !strings.Contains(err.Error(), "already")) {
			t.Errorf("%s: want nothing to undo any more, got %v", c.why, err)
		}
	}
	p, list := revised()
	if _, err := p.Undo(list, 7); err == nil || !strings.Contains(err.Error(), "those that are kept are 2, 1") {
		t.Errorf("want the known revisions, got %v", err)
	}
	if _, err := p.Undo(nil, 0); err == nil || !strings.Contains(err.Error(), "no revision is kept") {
		t.Errorf("want that none is kept, got %v", err)
	}
}
