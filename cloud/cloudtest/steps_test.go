package cloudtest

import (
	"encoding/base64"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"

	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/sim"
)

// edge are the steps that the Kubernetes edge starts instead of drivers.
var edge = []pool.StepKind{pool.Drain, pool.Undrain}

// fixtures are the steps that need what another provider made, which each cloud has in a shape of its own: the test named here, in the
// package of each driver that begins the step, disturbs them.
var fixtures = map[pool.StepKind]string{pool.Adopt: "TestAdoption"}

// Every kind of step that the domain knows is disturbed in every way, or is not a driver's.
func TestEveryKindOfStepIsExercised(t *testing.T) {
	kinds := stepKinds(t)
	exercised := map[pool.StepKind]bool{}
	for _, e := range exercises[struct{}]() {
		exercised[e.kind] = true
	}
	for _, kind := range kinds {
		if exercised[kind] == (slices.Contains(edge, kind) || fixtures[kind] != "") {
			t.Errorf("%s: want it exercised, a step of the edge or one with fixtures of its own, got exercised = %t", kind, exercised[kind])
		}
	}
}

// stepKinds are the constants of type StepKind in the domain's source.
func stepKinds(t *testing.T) []pool.StepKind {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "../../pool/plan.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var kinds []pool.StepKind
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if of, ok := spec.Type.(*ast.Ident); ok && of.Name == "StepKind" {
			for _, v := range spec.Values {
				kinds = append(kinds, pool.StepKind(strings.Trim(v.(*ast.BasicLit).Value, `"`)))
			}
		}
		return true
	})
	if len(kinds) < len(edge)+len(exercises[struct{}]())/2 {
		t.Fatalf("want the kinds of steps found in the source, got %v", kinds)
	}
	return kinds
}

func TestLeaks(t *testing.T) {
	encoded := base64.StdEncoding.EncodeToString
	for _, c := range []struct {
		reason, text string
		want         bool
	}{
		{"the data itself", bootstrap, true},
		{"the token alone", "token=" + secret + "&x=1", true},
		{"base 64 of the data", encoded([]byte(bootstrap)), true},
		{"base 64 with one byte before it", encoded([]byte("x" + secret + "tail")), true},
		{"base 64 with two bytes before it", encoded([]byte("xy" + secret + "tail")), true},
		{"base 64 with three bytes before it", encoded([]byte("xyz" + secret)), true},
		{"bytes as numbers", fmt.Sprintf("%v", []byte(bootstrap)), true},
		{"a part that opens nothing", "abcdef", false},
		{"words of the data that are no secret", "kubeadm join 10.0.0.1:6443", false},
		{"nothing", "", false},
	} {
		if got := leaks(c.text); got != c.want {
			t.Errorf("%s: want %t, got %t for %q", c.reason, c.want, got, c.text)
		}
	}
}

func TestSpreadKeepsZonesEven(t *testing.T) {
	var instances []pool.Instance
	for _, at := range []string{"a1", "b2", "a3", "c4"} {
		instances = append(instances, pool.Instance{ID: at, Zone: at[:1]})
	}
	if got, want := spread(instances, 1), []string{"a1"}; !slices.Equal(got, want) {
		t.Errorf("want one of the zone that has most, %v, got %v", want, got)
	}
	if got, want := spread(instances, 2), []string{"a1", "b2"}; !slices.Equal(got, want) {
		t.Errorf("want no zone left with two more than another, %v, got %v", want, got)
	}
}

// What neither the driver's traits nor the cloud declare must not be seen: the exercises about it are left out.
func TestUndeclared(t *testing.T) {
	shown := pool.Observed{
		Group:           &pool.Group{Busy: &pool.Cause{Reason: "Updating"}},
		ProviderRollout: &pool.ProviderRollout{State: pool.ProviderRolloutSucceeded},
		Instances: []pool.Instance{
			{ID: "drifted", InPlaceDrift: []string{"spec.tags"}}, {ID: "unprotected", ScaleInUnprotected: true},
			{ID: "protected", ScaleInProtected: true}, {ID: "held", LifecycleHook: &pool.LifecycleHook{}}, {ID: "plain"},
			{ID: "aside", Standby: true}, {ID: "entering", EnteringStandby: true},
		},
	}
	if got, want := len(declared{}.undeclared(shown)), 8; got != want {
		t.Errorf("want %d things shown that nothing declares, got %d", want, got)
	}
	for _, c := range []struct {
		declared declared
		allows   []string
	}{
		{declared{GroupBehavior: sim.GroupBehavior{BusyAfterChange: true}}, []string{"a group that the cloud works on"}},
		{declared{traits: pool.Traits{SupportsStandby: true}}, []string{"the standby of aside", "the standby of entering"}},
		{declared{traits: pool.Traits{ProviderRollout: true}, GroupBehavior: sim.GroupBehavior{RecordsRollouts: true}},
			[]string{"a rollout of the cloud"}},
		{declared{hooks: true}, []string{"a lifecycle hook of held"}},
		{declared{traits: pool.Traits{SupportsInPlaceChanges: true}}, []string{"in-place drift of drifted"}},
		{declared{traits: pool.Traits{SupportsScaleInProtection: true}}, []string{
			"the scale-in protection of unprotected", "the scale-in protection of protected",
		}},
	} {
		want := slices.DeleteFunc(declared{}.undeclared(shown), func(s string) bool { return slices.Contains(c.allows, s) })
		if got := c.declared.undeclared(shown); !slices.Equal(got, want) {
			t.Errorf("%v declared: want %v, got %v", c.allows, want, got)
		}
	}
}
