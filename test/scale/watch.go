package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
)

var machinePool = schema.GroupVersionKind{Group: "cluster.x-k8s.io", Version: "v1beta2", Kind: "MachinePool"}

// poolState holds the last known state of a pool.
type poolState struct {
	core, infra  bool // which of its objects exist
	replicas     int64
	ready, fresh int64 // machines that are Ready, and up to date
	listed       []string
	nodes        int
	// status, reason and message belong to the condition Ready of the infrastructure object.
	status, reason, message string
}

// has reports whether the pool has so many machines, all of them listed, Ready and up to date.
func (s poolState) has(replicas int) bool {
	n := int64(replicas)
	return s.core && s.infra && s.replicas == n && s.ready == n && s.fresh == n && len(s.listed) == replicas && s.nodes == replicas &&
		s.status == "True"
}

// watch follows all pools of a world.
type watch struct {
	mu    sync.Mutex
	pools map[string]*poolState
	// waits is the condition of the current phase, nil for none. left holds the pools that do not meet it yet.
	waits  func(name string, s poolState) bool
	began  time.Time
	left   map[string]bool
	took   map[string]time.Duration
	done   chan struct{}
	unwell map[string]string // pools that lost Ready since the last call of wellSince, with reason and message
}

// newWatch begins to follow the pools. It ends with the context.
func newWatch(ctx context.Context, config *rest.Config) (*watch, error) {
	w := &watch{pools: map[string]*poolState{}, unwell: map[string]string{}}
	c, err := cache.New(config, cache.Options{DefaultNamespaces: map[string]cache.Config{namespace: {}}})
	if err != nil {
		return nil, err
	}
	done := map[schema.GroupVersionKind]bool{}
	for _, gvk := range append([]schema.GroupVersionKind{machinePool}, infrastructureKinds()...) {
		if done[gvk] {
			continue
		}
		done[gvk] = true
		informer, err := c.GetInformer(ctx, object(gvk, ""), cache.BlockUntilSynced(false))
		if err != nil {
			return nil, fmt.Errorf("watch %s: %w", gvk.Kind, err)
		}
		core := gvk == machinePool
		if _, err := informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
			AddFunc:    func(o any) { w.see(o, core, true) },
			UpdateFunc: func(_, o any) { w.see(o, core, true) },
			DeleteFunc: func(o any) { w.see(o, core, false) },
		}); err != nil {
			return nil, fmt.Errorf("watch %s: %w", gvk.Kind, err)
		}
	}
	go func() { _ = c.Start(ctx) }() // ends with the context
	if !c.WaitForCacheSync(ctx) {
		return nil, ctx.Err()
	}
	return w, nil
}

func infrastructureKinds() (all []schema.GroupVersionKind) {
	for _, k := range kinds {
		all = append(all, k.infrastructure)
	}
	return all
}

// see records an event of an informer.
func (w *watch) see(o any, core, exists bool) {
	if gone, ok := o.(toolscache.DeletedFinalStateUnknown); ok {
		o = gone.Obj
	}
	u, ok := o.(*unstructured.Unstructured)
	if !ok {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	name := u.GetName()
	s := w.pools[name]
	if s == nil {
		s = &poolState{}
		w.pools[name] = s
	}
	if core {
		s.seeCore(u, exists)
	} else {
		was := s.status
		s.seeInfra(u, exists)
		if was == "True" && s.status != "True" && exists {
			w.unwell[name] = s.status + " " + s.reason + ": " + s.message
		}
	}
	w.check(name)
}

func (s *poolState) seeCore(u *unstructured.Unstructured, exists bool) {
	number := func(path ...string) int64 { n, _, _ := unstructured.NestedInt64(u.Object, path...); return n }
	s.core = exists
	s.replicas, s.ready, s.fresh = number("status", "replicas"), number("status", "readyReplicas"), number("status", "upToDateReplicas")
	s.listed, _, _ = unstructured.NestedStringSlice(u.Object, "spec", "providerIDList")
	refs, _, _ := unstructured.NestedSlice(u.Object, "status", "nodeRefs")
	s.nodes = len(refs)
}

func (s *poolState) seeInfra(u *unstructured.Unstructured, exists bool) {
	s.infra, s.status, s.reason, s.message = exists, "", "", ""
	conditions, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
	for _, c := range conditions {
		if m, ok := c.(map[string]any); ok && m["type"] == "Ready" {
			s.status, s.reason, s.message = fmt.Sprint(m["status"]), fmt.Sprint(m["reason"]), fmt.Sprint(m["message"])
		}
	}
}

// check notes that a pool has what a phase waits for. The lock is held.
func (w *watch) check(name string) {
	if w.waits == nil || !w.left[name] || !w.waits(name, *w.pools[name]) {
		return
	}
	delete(w.left, name)
	w.took[name] = time.Since(w.began)
	if len(w.left) == 0 {
		close(w.done)
	}
}

// expect begins a phase: the following actions are to bring the pools to the condition.
func (w *watch) expect(pools []*poolSpec, waits func(name string, s poolState) bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waits, w.began, w.left, w.took, w.done = waits, time.Now(), map[string]bool{}, map[string]time.Duration{}, make(chan struct{})
	for _, p := range pools {
		w.left[p.name] = true
	}
}

// wait ends the phase when all pools meet the condition, or at its limit; late lists those that do not.
func (w *watch) wait(ctx context.Context, limit time.Duration, progress func(left int)) (took []time.Duration, late []string) {
	end := time.NewTimer(limit)
	defer end.Stop()
	tick := time.NewTicker(10 * time.Second)
	defer tick.Stop()
	for waiting := true; waiting; {
		select {
		case <-w.done:
			waiting = false
		case <-end.C:
			waiting = false
		case <-ctx.Done():
			waiting = false
		case <-tick.C:
			w.mu.Lock()
			left := len(w.left)
			w.mu.Unlock()
			progress(left)
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, t := range w.took {
		took = append(took, t)
	}
	for name := range w.left {
		late = append(late, w.describe(name))
	}
	w.waits = nil
	slices.SortFunc(took, cmp.Compare[time.Duration])
	slices.Sort(late)
	return took, late
}

// describe formats the last known state of a pool. The lock is held.
func (w *watch) describe(name string) string {
	s := w.pools[name]
	if s == nil {
		return name + ": not seen"
	}
	return fmt.Sprintf("%s: core %t infrastructure %t, replicas %d, ready %d, up to date %d, listed %d, nodes %d, Ready %s %s: %s",
		name, s.core, s.infra, s.replicas, s.ready, s.fresh, len(s.listed), s.nodes, s.status, s.reason, s.message)
}

// of returns the last known state of a pool.
func (w *watch) of(name string) poolState {
	w.mu.Lock()
	defer w.mu.Unlock()
	if s := w.pools[name]; s != nil {
		return *s
	}
	return poolState{}
}

// lost returns the pools that lost Ready since it was called last.
func (w *watch) lost() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []string
	for name, why := range w.unwell {
		all = append(all, name+": "+strings.TrimSpace(why))
	}
	w.unwell = map[string]string{}
	slices.Sort(all)
	return all
}
