package commands

import (
	"bytes"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/view/plan"
)

func TestAdopt(t *testing.T) {
	t.Parallel()
	adopts := plan.Plan{Namespace: "default", Name: "workers",
		Adoption: &plan.Adoption{Group: "group g", Tagged: []string{"template t", "group g"}}}
	replaces := adopts
	replaces.Replaced = 2
	for name, c := range map[string]struct {
		why  string
		args []string
		a    adopter
		plan plan.Plan
		set  string
		err  string
	}{
		"plain":                {"the group has the pool's name", []string{"machinepool/workers"}, adopter{}, adopts, "workers", ""},
		"another name":         {"the user names the group", []string{"machinepool", "workers"}, adopter{group: "g"}, adopts, "g", ""},
		"dry run":              {"nothing is set", []string{"machinepool/workers"}, adopter{dryRun: true}, adopts, "", ""},
		"nothing to adopt":     {"the command fails", []string{"machinepool/workers"}, adopter{}, plan.Plan{}, "", "--group"},
		"replacement":          {"no machine goes by surprise", []string{"machinepool/workers"}, adopter{}, replaces, "", "--allow-replacement"},
		"accepted replacement": {"the user accepts it", []string{"machinepool/workers"}, adopter{replace: true}, replaces, "workers", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := runtime.NewScheme()
			if err := clusterv1.AddToScheme(s); err != nil {
				t.Fatal(err)
			}
			mp := &clusterv1.MachinePool{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "workers"}}
			management := fake.NewClientBuilder().WithScheme(s).WithObjects(mp).Build()
			var out bytes.Buffer
			a := c.a
			a.out, a.output = &out, "text"
			request, err := a.adoption(c.args)
			if err != nil || len(request.Set) != 1 || !strings.Contains(request.Set[0], pool.AdoptAnnotation) {
				t.Fatalf("%s: want the annotation planned, got %+v, %v", c.why, request.Set, err)
			}
			err = a.apply(t.Context(), management, []plan.Plan{c.plan})
			if (err != nil) != (c.err != "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: want the error %q, got %v", c.why, c.err, err)
			}
			if err := management.Get(t.Context(), client.ObjectKeyFromObject(mp), mp); err != nil {
				t.Fatal(err)
			}
			if got := mp.Annotations[pool.AdoptAnnotation]; got != c.set {
				t.Errorf("%s: want the annotation %q, got %q\n%s", c.why, c.set, got, &out)
			}
		})
	}
}
