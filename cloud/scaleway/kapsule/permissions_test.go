package kapsule_test

import (
	"slices"
	"testing"

	scalewayv1 "github.com/muster-project/muster/api/scaleway/v1alpha2"
	"github.com/muster-project/muster/cloud"
	domain "github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/providers/scaleway/permissions"
	"github.com/muster-project/muster/sim/scaleway"
)

// keyWith is the tests' API key with permission sets.
func keyWith(sets []string) []scaleway.Key {
	return []scaleway.Key{{AccessKey: accessKey, SecretKey: secretKey, Permissions: sets}}
}

// allowed are the permission sets under which all tests run.
func allowed() []string {
	p, err := permissions.PolicyOf(permissions.Options{})
	if err != nil {
		return []string{}
	}
	return p.Sets()
}

// TestNoPermissionIsSuperfluous holds that the life of a pool is denied something without any one of the permission sets, and nothing with
// all of them.
func TestNoPermissionIsSuperfluous(t *testing.T) {
	for _, without := range append([]string{""}, allowed()...) {
		t.Run("without "+without, func(t *testing.T) {
			sets := slices.DeleteFunc(allowed(), func(set string) bool { return set == without })
			inWorld(t, scaleway.Options{Keys: keyWith(sets)}, func(w *world) {
				if denied, _ := w.wholeLife(); denied != (without != "") {
					w.Errorf("want a life that is denied something only without a permission set, got %t without %q", denied, without)
				}
			})
		})
	}
}

// TestOperations holds that the driver sends the documented operations and no other, and that each needs the set that is documented.
func TestOperations(t *testing.T) {
	inWorld(t, scaleway.Options{}, func(w *world) {
		_, sent := w.wholeLife()
		for _, o := range permissions.Operations() {
			if !slices.Contains(sent, o.Name) {
				t.Errorf("want %s sent in a whole life, got %v", o.Name, sent)
			}
		}
		for _, name := range sent {
			if !slices.ContainsFunc(permissions.Operations(), func(o permissions.Operation) bool { return o.Name == name }) {
				t.Errorf("want %s documented", name)
			}
		}
	})
	t.Run("looks", func(t *testing.T) {
		looks, err := permissions.PolicyOf(permissions.Options{ReadOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		inWorld(t, scaleway.Options{Keys: keyWith(looks.Sets())}, func(w *world) {
			if o := w.observe(); o.Capacity == nil || o.Wanted.Content == "" || len(o.Issues) > 0 {
				t.Errorf("want a whole look, got %+v", o)
			}
			if err := w.try(domain.Step{Kind: domain.CreateGroup, Size: 1}); cloud.KindOf(err) != cloud.Denied {
				t.Errorf("want a write denied, got %v", err)
			}
		})
	})
}

// wholeLife does to a pool whatever may be done, and reports whether anything of it was denied and what was sent.
func (w *world) wholeLife() (denied bool, sent []string) {
	w.Helper()
	look := func() domain.Observed {
		o, err := w.driver.Observe(w.Context(), w.target)
		denied = denied || err != nil && cloud.KindOf(err) == cloud.Denied || has(o.Issues, string(cloud.Denied))
		return o
	}
	do := func(s domain.Step) {
		look()
		err := w.try(s)
		denied = denied || err != nil && cloud.KindOf(err) == cloud.Denied
		settle()
		look()
	}
	sent = w.sent(func() {
		do(domain.Step{Kind: domain.CreateGroup, Size: 2})
		do(domain.Step{Kind: domain.Resize, Size: 3})
		if o := look(); len(o.Instances) > 0 {
			do(remove(o, 0))
		}
		w.change(func(s *spec) {
			taint := []scalewayv1.Taint{{Key: "a", Effect: "NoSchedule"}}
			s.Labels, s.Taints, s.StartupTaints, s.Autohealing = scalewayv1.NodeLabels{"a": "b"}, taint, taint, new(true)
		})
		do(domain.Step{Kind: domain.UpdateGroup})
		w.upgradeCluster(newer)
		w.target.KubernetesVersion = newer
		do(domain.Step{Kind: domain.StartProviderRollout})
		w.target.Deleting = true
		do(domain.Step{Kind: domain.DeleteGroup})
	})
	slices.Sort(sent)
	return denied, slices.Compact(sent)
}
